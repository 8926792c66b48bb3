"""A stream on a thermal envelope, integrated in small steps with the mean of its frames. It shares no code with
Kelvin.

    p = P/P_sus,  dh_i/dt = (p - h_i)/tau_i,  h = w1 h1 + w2 h2

The clock f is 1 until h reaches 1, and then the highest at which h stays there. At clock f a frame takes T/f seconds and
E f^(g-1) joules, so that P = idle + min(r, f/T) E f^(g-1) at r arrivals a second.
"""
import math

STEP = 0.25
# The tolerance between noisy single frames and their mean, for rates and headroom.
TOLERANCE = 0.02


class Lasting:
    def __init__(self, simulation):
        self.envelope, self.stream, self.physics = (simulation[key] for key in ["envelope", "stream", "physics"])
        self.plans = {plan["label"]: plan for plan in simulation["plans"]}
        self.courses = {}

    def watts(self, plan, f):
        seconds, joules = plan["secondsPerFrame"], plan["joulesPerFrame"]
        rate = min(self.stream["framesPerSecond"], f / seconds)
        return self.envelope["idleWatts"] + rate * joules * f ** (self.physics["clockExponent"] - 1)

    def clock(self, plan, watts):
        low, high = self.physics["lowestClock"], 1.0
        if self.watts(plan, high) <= watts or self.watts(plan, low) >= watts:
            return high if self.watts(plan, high) <= watts else low
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self.watts(plan, middle) <= watts else (low, middle)
        return low

    def course(self, plan):
        """Returns time, headroom and clock, step by step."""
        if plan["label"] not in self.courses:
            poles = [(self.envelope[key]["weight"], self.envelope[key]["tau"]) for key in ["fast", "slow"]]
            sustainable = self.envelope["sustainableWatts"]
            rises = [self.envelope["idleWatts"] / sustainable] * 2
            kept = [math.exp(-STEP / tau) for _, tau in poles]
            budget = sum(weight * (1 - keep) for (weight, _), keep in zip(poles, kept))
            course = []
            full = self.watts(plan, 1)
            for step in range(round(self.stream["duration"] / STEP)):
                carried = sum(weight * keep * rise for (weight, _), keep, rise in zip(poles, kept, rises))
                allowed = (1 - carried) / budget * sustainable
                f = 1.0 if full <= allowed else self.clock(plan, allowed)
                load = (full if f == 1 else self.watts(plan, f)) / sustainable
                rises = [keep * rise + (1 - keep) * load for keep, rise in zip(kept, rises)]
                course.append((STEP * (step + 1), sum(weight * rise for (weight, _), rise in zip(poles, rises)), f))
            self.courses[plan["label"]] = course
        return self.courses[plan["label"]]

    def rate(self, plan, f):
        return min(self.stream["framesPerSecond"], f / plan["secondsPerFrame"])

    def objections(self, plan, rate, throttled):
        """Returns the reasons why a settled rate and the moment at which the clock was first lowered are impossible."""
        course = self.course(plan)
        last = course[-max(1, len(course) // 10):]
        settled = sum(self.rate(plan, f) for _, _, f in last) / len(last)
        if abs(settled / rate - 1) > TOLERANCE:
            yield f"{rate} frames/s at the end were printed, {settled} follow"
        if throttled is None:
            if max(headroom for _, headroom, _ in course) >= 1 and last[-1][2] < 1 - TOLERANCE:
                yield f"it is said never to slow down, and its clock comes to {last[-1][2]}"
            return
        headroom = next((headroom for at, headroom, _ in course if at >= throttled), 0)
        # The clock falls one interval before the limit, so that the limit is not exceeded.
        ahead = next((headroom for at, headroom, _ in course if at >= throttled + 2 * self.physics["interval"]), headroom)
        if not headroom <= 1 + TOLERANCE or ahead < 1 - TOLERANCE:
            yield f"it is said to slow down from {throttled} s on, where headroom is {headroom}"

    def lead(self, overtaken, overtaking, at):
        """Returns the advantage of the second: by its rate or, if both keep the same rate, by the seconds of a
        frame."""
        plans = [self.plans[label] for label in [overtaken, overtaking]]
        clocks = [next((f for time, _, f in self.course(plan) if time >= at), self.course(plan)[-1][2]) for plan in plans]
        (one, other) = (self.rate(plan, f) for plan, f in zip(plans, clocks))
        if abs(one / other - 1) > 0.01:
            return math.log(other / one)
        (one, other) = (plan["secondsPerFrame"] / f for plan, f in zip(plans, clocks))
        return math.log(one / other)

    def crosses(self, overtaken, overtaking, at):
        """Whether the order turns about then: between a window of the simulation before and one after."""
        window = max(10, self.stream["duration"] / 360)
        before, after = (self.lead(overtaken, overtaking, max(0, at + side * window)) for side in [-1, 1])
        return before < TOLERANCE and after > -TOLERANCE
