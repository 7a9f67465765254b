"""What is said of a server and of a repeat, in one line for a log."""

from experiment.measure.load import LoadFigures
from experiment.record import Engine, RepeatRecord, Reply


def describe(engine: Engine) -> str:
    """Say in a few words what the server is."""
    if engine.simulated:
        profile = (engine.standin or {}).get("profile", "unnamed")
        return f"{engine.model} by the stand-in engine, profile {profile}: all its figures are simulated"
    return f"{engine.model} by vLLM {engine.version}" if engine.version else f"{engine.model}, server version unknown"


def told(record: RepeatRecord) -> str:
    """Say what a repeat has measured, or why it has not."""
    if record.result != "finished":
        return f"FAILED, {record.why}"
    marks = ["simulated"] if record.engine.simulated else []
    if record.verdict is not None and record.verdict.client_limited:
        marks.append(f"CLIENT-LIMITED: {'; '.join(record.verdict.reasons)}")
    if record.disturbed:
        marks.append(f"DISTURBED: {'; '.join(record.disturbed)}")
    return f"{_figures(record)} ({', '.join(marks)})" if marks else _figures(record)


def _figures(record: RepeatRecord) -> str:
    figures = record.figures
    if figures.load is None:
        return "nothing was asked"
    if len(record.requests) == 1:
        return _reply(record.replies[0])
    return ", ".join([*special(record), *_load(figures.load)])


def _reply(reply: Reply) -> str:
    figures = reply.figures
    parts = [f"TTFT {figures.ttft_s * 1000:.1f} ms"]
    if figures.tpot_s is not None and figures.longest_gap_s is not None:
        parts.append(f"{figures.tpot_s * 1000:.2f} ms/token, longest gap {figures.longest_gap_s * 1000:.1f} ms")
    parts.append(f"{figures.tokens_per_s:.1f} tokens/s, {reply.tokens.output} tokens")
    return ", ".join(parts)


def special(record: RepeatRecord) -> list[str]:
    """Say what only a repeat of this kind of test has measured."""
    parts, figures = [], record.figures
    if figures.steps is not None:
        mode = f" ({figures.steps.mode or 'no mode'})" if record.test_kind == "modes" else ""
        parts.append(f"{figures.steps.steps_per_token:.2f} steps/token{mode}")
    if record.test_kind == "interference" and figures.interference is None:
        parts.append("no stall: the stream was over before the long prompt")
    if figures.interference is not None:
        one = figures.interference
        parts.append(f"stall {one.stall_s:.3f} s of {one.long_ttft_s:.3f} s, slowed {one.slowed_s:.3f} s")
    if figures.follow_up is not None:
        turn = figures.follow_up
        hits = "hits unknown" if turn.warm_hits is None else f"{turn.warm_hits:.0f} tokens hit"
        parts.append(f"TTFT {turn.warm_ttft_s:.3f} s warm, {turn.cold_ttft_s:.3f} s cold, {hits}")
    if figures.goodput is not None:
        parts.append(f"{figures.goodput.share:.0%} good, {'kept' if figures.goodput.kept else 'not kept'}")
    if figures.drift is not None:
        slope, error = figures.drift.slope_s_per_hour, figures.drift.error_s_per_hour
        sure = "" if error is None else f" (standard error {error * 1000:.2f})"
        parts.append(f"drift {slope * 1000:+.2f}{sure} ms/token an hour")
    if figures.outage is not None:
        outage = figures.outage
        if outage.silent_s is None:
            parts.append(f"silent for {outage.still_silent_s or 0:.1f} s and still so when the load ended")
        else:
            parts.append(f"silent for {outage.silent_s:.1f} s")
    return parts


def _load(load: LoadFigures) -> list[str]:
    parts = []
    if load.tokens_per_s is not None:
        parts.append(f"{load.tokens_per_s:.1f} tokens/s in total")
    if load.ttft_s is not None:
        parts.append(f"TTFT p50 {load.ttft_s.p50 * 1000:.1f} ms")
    if load.tpot_s is not None:
        parts.append(f"{load.tpot_s.p50 * 1000:.2f} ms/token p50")
    parts.append(f"{load.requests} requests, {load.failed} failed")
    return parts
