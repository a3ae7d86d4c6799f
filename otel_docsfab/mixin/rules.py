"""Recording rules: the shares that alerts and several boards ask for."""

from __future__ import annotations

from otel_docsfab.catalogue import metrics as m
from otel_docsfab.core.codes import Outcome, Verdict
from otel_docsfab.mixin.config import DEFAULTS, MixinConfig
from otel_docsfab.mixin.promql import Rule, added, minus, recorded, select, share, sum_by


class Rules:
    """The recording rules of one configuration, in the order of evaluation."""

    def __init__(self, config: MixinConfig = DEFAULTS) -> None:
        """Build them; a rule may read an earlier one."""
        window = config.long
        steps = ("job", "step")
        self.attempts = Rule(
            f"job_step:docsfab_attempts:added{window}",
            added(select(m.ATTEMPTS), window, *steps),
            "Attempts that ended",
        )
        self.stops = Rule(
            f"job_step:docsfab_read_loop_stops:added{window}",
            added(select(m.READ_LOOP_STOPS), window, *steps),
            "Stops, observed ones included",
        )
        self.asks = Rule(
            f"job_step:docsfab_conclude_now_asks:added{window}",
            added(select(m.CONCLUDE_NOW_ASKS), window, *steps),
            "Asks for an early answer",
        )
        self.stop_share = Rule(
            f"job_step:docsfab_read_loop_stops:share{window}",
            share(recorded(self.stops), recorded(self.attempts)),
            "Stopped share of the attempts",
        )
        self.early_share = Rule(
            f"job_step:docsfab_conclude_now_asks:share{window}",
            share(recorded(self.asks), recorded(self.attempts)),
            "Share of the attempts that were asked for an early answer",
        )
        self.reads = Rule(
            f"job_tool:docsfab_read_results:added{window}",
            added(select(m.READ_RESULTS), window, "job", "tool"),
            "Results of read-class tools",
        )
        withheld = select(m.READ_RESULTS, {"verdict": Verdict.NOTICE_ONLY})
        self.withheld_share = Rule(
            f"job_tool:docsfab_read_withheld:share{window}",
            share(added(withheld, window, "job", "tool"), recorded(self.reads)),
            "Withheld share of the results",
        )
        self.unjudged_share = Rule(
            f"job:docsfab_read_unjudged:share{window}",
            share(
                added(select(m.READ_UNJUDGED), window, "job"),
                sum_by(recorded(self.reads), "job"),
            ),
            "Share of the results that could not be judged",
        )
        stretch = m.ATTEMPT_LONGEST_STRETCH
        who = ("job", "step", "agent")
        within = select(stretch, part="bucket", at_most=config.stretch_calls)
        self.long_stretches = Rule(
            f"job_step_agent:docsfab_long_stretches:added{window}",
            minus(
                added(select(stretch, part="count"), window, *who),
                added(within, window, *who),
            ),
            f"Attempts with more than {config.stretch_calls:.0f} calls between two progresses",
        )
        self.rescued_share = Rule(
            "job:docsfab_retries_rescued:share1d",
            share(
                added(select(m.RETRIES, {"outcome": Outcome.ANSWERED}), "1d", "job"),
                added(select(m.RETRIES), "1d", "job"),
            ),
            "Share of the retries that ended with an answer",
        )

    def all(self) -> tuple[Rule, ...]:
        """Every rule, in order."""
        return tuple(rule for rule in vars(self).values() if isinstance(rule, Rule))
