#include "ck_pace.h"

/* Runs of a trial, and between two trials: at first, doubled with each that is lost, at most. */
enum { trial = 3, least_pause = 4, most_pause = 32 };
/* The part of a run asleep that makes trials worth while, the part of the usual time that a trial has to stay below, and the
 * weight of one run in what is usual. */
static const double crowded = 0.15, winning = 0.9, weight = 0.25;

ck_way ck_pace_next(const ck_pace *pace) { return pace->left_in_trial ? pace->tried_way : pace->usual_way; }

static void begin_trial(ck_pace *pace) {
  do {
    pace->tried_way = (pace->tried_way + 1) % ck_way_count;
  } while (pace->tried_way == pace->usual_way);
  pace->left_in_trial = trial;
  pace->tried = 0;
}

static void end_trial(ck_pace *pace) {
  double mean = pace->tried / trial;
  if (mean < winning * pace->usual) {
    pace->usual_way = pace->tried_way;
    pace->usual = mean;
    pace->slept = 0;
    pace->pause = least_pause;
  } else {
    pace->pause = pace->pause < most_pause / 2 ? 2 * pace->pause : most_pause;
  }
  pace->until_trial = pace->pause;
}

void ck_pace_ran(ck_pace *pace, double seconds, double slept) {
  if (pace->left_in_trial) {
    pace->tried += seconds;
    if (--pace->left_in_trial == 0) end_trial(pace);
    return;
  }
  if (pace->pause == 0) *pace = (ck_pace){.usual = seconds, .pause = least_pause, .until_trial = least_pause};
  pace->usual += weight * (seconds - pace->usual);
  pace->slept += weight * ((seconds > 0 ? slept / seconds : 0) - pace->slept);
  if (pace->until_trial) pace->until_trial--;
  if (pace->until_trial == 0 && (pace->usual_way != ck_together || pace->slept > crowded)) begin_trial(pace);
}
