#pragma once

/* How the threads of a job work. */
typedef enum {
  /* All of them; who has to wait for the others spins for a while, as sleeping takes longer than most waits. */
  ck_together,
  /* All of them, and who waits sleeps soon: a thread that slept is run again before one that never does. */
  ck_parked,
  /* The calling one, which waits for nobody. */
  ck_alone,
  ck_way_count
} ck_way;

/* How the runs of one job went, and from that the way of the next one.
 *
 * Threads that work together wait for each other. Where other processes hold the processors, each wait lasts until the
 * system runs the last thread again, and another way may be faster. Runs together whose caller slept for long are the sign;
 * from there on a few runs now and then try another way against the usual one, the rarer the more often they lost. Zeroes are
 * the beginning: together. */
typedef struct {
  ck_way usual_way;
  ck_way tried_way;
  /* Seconds of a run in the usual way, and the part of them in which the caller slept; both smoothed. */
  double usual;
  double slept;
  /* Seconds of the trial's runs so far. */
  double tried;
  unsigned left_in_trial;
  unsigned until_trial;
  unsigned pause;
} ck_pace;

/* The way of the next run. */
ck_way ck_pace_next(const ck_pace *pace);

/* Takes in a run that went as `ck_pace_next` said: how long it took and how long the caller slept in it, in seconds. */
void ck_pace_ran(ck_pace *pace, double seconds, double slept);
