"""Which splitter, at what size: answered with numbers on documents and questions of one's own."""

from spanwise.evaluate.comparing import Difference
from spanwise.evaluate.evaluation import Evaluation, Row
from spanwise.evaluate.known_items import known_item_questions
from spanwise.evaluate.questions import Evidence, Question, read_questions, write_questions
from spanwise.evaluate.running import Step, evaluate
from spanwise.evaluate.setups import Setup

__all__ = [
    "Difference",
    "Evaluation",
    "Evidence",
    "Question",
    "Row",
    "Setup",
    "Step",
    "evaluate",
    "known_item_questions",
    "read_questions",
    "write_questions",
]
