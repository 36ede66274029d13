"""Names of everything that stands in Redis."""

from typing import Literal

from rq.intermediate_queue import IntermediateQueue
from rq.job import Job
from rq.queue import Queue
from rq.registry import FailedJobRegistry

from redshank_shared.domain.ids import WorkstreamId

_PREFIX = "redshank:"

TURNS = "turns"
KEPT = "jobs"

ADVANCE = "redshank_node.worker.jobs.advance"
KeptFunction = Literal["poll", "push", "fire", "deliver"]
KEPT_FUNCTIONS: dict[KeptFunction, str] = {
    "poll": "redshank_node.worker.jobs.poll",
    "push": "redshank_node.worker.jobs.push",
    "fire": "redshank_node.worker.jobs.fire",
    "deliver": "redshank_node.worker.jobs.deliver",
}

APPENDED = f"{_PREFIX}appended"
REPORTS = f"{_PREFIX}reports"
QUIET = f"{_PREFIX}quiet"
SWEEP_LOCK = f"{_PREFIX}sweep"
QUEUES = Queue.redis_queues_keys
FAILED_KEPT = FailedJobRegistry.key_template.format(KEPT)


def turns_queue(directed_to: str = "") -> str:
    """The RQ queue's name for nudges: the shared one, or that of one node or label."""
    return f"{TURNS}.{directed_to}" if directed_to else TURNS


def queue_list(queue: str) -> str:
    """The list of waiting job ids of an RQ queue."""
    return f"{Queue.redis_queue_namespace_prefix}{queue}"


def is_ours(queue_list_key: str) -> bool:
    """Whether an RQ queue, by the key of its list, is one of Redshank's."""
    name = queue_list_key.removeprefix(Queue.redis_queue_namespace_prefix)
    return name in (TURNS, KEPT) or name.startswith(f"{TURNS}.")


def is_for_turns(queue_list_key: str) -> bool:
    """Whether an RQ queue, by the key of its list, is one for nudges."""
    return is_ours(queue_list_key) and queue_list_key != queue_list(KEPT)


def taken_list(queue_list_key: str) -> str:
    """The list on which a job id stands between a queue's list and the node that takes it."""
    return IntermediateQueue.get_intermediate_queue_key(queue_list_key)


def job_hash(job_id: str) -> str:
    """The hash that RQ keeps of a job."""
    return Job.key_for(job_id)


def nudge_job(workstream_id: WorkstreamId) -> str:
    """The one job id under which a workstream is nudged."""
    return f"advance-{workstream_id}"


def kept_job(function: KeptFunction, subject_id: str) -> str:
    """The one job id under which a row is handed over."""
    return f"{function}-{subject_id}"


def nudged(workstream_id: WorkstreamId) -> str:
    """Set while a nudge waits that no node has taken yet."""
    return f"{_PREFIX}nudged:{workstream_id}"


def live(workstream_id: WorkstreamId) -> str:
    """The channel of a workstream's events in progress."""
    return f"{_PREFIX}live:{workstream_id}"


def partial(workstream_id: WorkstreamId) -> str:
    """The list of text pieces of the step in progress."""
    return f"{_PREFIX}partial:{workstream_id}"
