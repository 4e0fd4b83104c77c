from __future__ import annotations


def timer(make, timer_id, seconds="5", **options):
    return make("StartTimer", timerId=timer_id, startToFireTimeout=seconds, **options)


def test_a_timer_fires_at_its_time(swf, make):
    swf.start()
    swf.decide(timer(make, "t", control="c"))
    began = swf.engine.clock.now()
    swf.engine.advance(4.9)
    assert swf.last("TimerStarted") == {
        "timerId": "t",
        "startToFireTimeout": "5",
        "control": "c",
        "decisionTaskCompletedEventId": 4,
    }
    swf.engine.advance(100)

    assert swf.types()[5:] == ["TimerFired", "DecisionTaskScheduled"]
    assert swf.last("TimerFired") == {"timerId": "t", "startedEventId": 5}
    assert swf.events()[5]["eventTimestamp"].timestamp() == began + 5


def test_timers_fire_in_order_of_time_then_of_start(swf, make):
    swf.start()
    swf.decide(timer(make, "c", "9"), timer(make, "a", "3"), timer(make, "b", "3"), timer(make, "now", "0"))
    swf.engine.advance(10)

    fired = [
        event["timerFiredEventAttributes"]["timerId"] for event in swf.events() if "TimerFired" in event["eventType"]
    ]
    assert fired == ["now", "a", "b", "c"]


def test_a_timer_can_be_cancelled_in_the_decision_that_starts_it(swf, make):
    swf.start()
    swf.decide(timer(make, "t"), make("CancelTimer", timerId="t"), timer(make, "t", "7"))
    assert swf.types()[4:] == ["TimerStarted", "TimerCanceled", "TimerStarted"]
    swf.engine.advance(6)
    assert swf.types()[-1] == "TimerStarted"


def test_a_cancelled_timer_cannot_be_cancelled_again(swf, make):
    swf.start()
    swf.decide(timer(make, "t"), *[make("CancelTimer", timerId="t")] * 2)
    assert swf.types()[4:] == ["TimerStarted", "TimerCanceled", "CancelTimerFailed", "DecisionTaskScheduled"]


def test_a_timer_that_fires_while_its_cancel_is_decided_wins(swf, make):
    swf.start()
    swf.decide(timer(make, "t"))
    swf.signal()
    task = swf.poll()
    swf.engine.advance(5)
    swf.answer(task, make("CancelTimer", timerId="t"))
    assert swf.types()[-4:] == ["TimerFired", "DecisionTaskScheduled", "DecisionTaskCompleted", "CancelTimerFailed"]
