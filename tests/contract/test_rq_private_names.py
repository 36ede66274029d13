"""The names of RQ that Redshank leans on although RQ promises nothing about them."""

import inspect
from typing import Any, cast

import pytest
import redis
import rq
from rq import Callback, Retry, Webhook, worker_registration
from rq.executions import Execution
from rq.intermediate_queue import IntermediateQueue
from rq.job import Dependency, Job
from rq.queue import Queue
from rq.rate_limit import RateLimit
from rq.registry import FailedJobRegistry, StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.worker.base import BaseWorker

from redshank_node.worker.jobs import _ACTING_FIELDS
from redshank_shared.queue import keys

# Every field that RQ 3.0 writes into a job's hash and that names nothing to call or to contact.
_HARMLESS_FIELDS = {
    *("created_at", "data", "started_at", "ended_at", "last_heartbeat", "worker_name"),
    *("number_of_retries", "retries_left", "retry_intervals", "enqueue_at_front_on_retry"),
    *("origin", "description", "enqueued_at", "timeout", "result_ttl", "failure_ttl", "status"),
    *("meta", "ttl", "allow_dependency_failures", "enqueue_at_front", "repeat_intervals"),
    *("result", "exc_info", "rate_limit_concurrency"),
    *("success_callback_timeout", "failure_callback_timeout", "stopped_callback_timeout"),
}


def _parameters(function: Any) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_rq_is_of_the_version_whose_private_names_these_are() -> None:
    assert rq.__version__.startswith("3.0.")


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (BaseWorker._finalize_success, ["job", "queue", "execution", "return_value"]),
        (BaseWorker._finalize_failure, ["job", "queue", "execution", "exc_info"]),
        (BaseWorker.prepare_execution, ["job"]),
        (BaseWorker.prepare_job_execution, ["job", "remove_from_intermediate_queue"]),
        (BaseWorker.cleanup_execution, ["job", "pipeline", "execution"]),
        (BaseWorker.get_heartbeat_ttl, ["job", "working_time"]),
        (BaseWorker.heartbeat, ["timeout", "pipeline"]),
        (BaseWorker.set_state, ["state", "pipeline"]),
        (BaseWorker.procline, ["message"]),
        (BaseWorker.register_birth, []),
        (BaseWorker.register_death, []),
        (Execution.heartbeat, ["started_job_registry", "ttl", "pipeline"]),
        (StartedJobRegistry.cleanup, ["timestamp", "exception_handlers"]),
        (worker_registration.clean_worker_registry, ["queue"]),
        (Job.restore, ["raw_data"]),
        (Job.key_for, ["job_id"]),
        (Job.set_status, ["status", "pipeline"]),
        (Queue.push_job_id, ["job_id", "pipeline", "at_front"]),
        (IntermediateQueue.get_intermediate_queue_key, ["queue_key"]),
    ],
)
def test_a_function_of_rq_takes_what_we_give_it(function: Any, parameters: list[str]) -> None:
    assert _parameters(function) == parameters


def test_the_names_in_redis_are_those_that_rq_itself_uses() -> None:
    queue = Queue(keys.KEPT, connection=cast(redis.Redis, object()))
    assert keys.queue_list(keys.KEPT) == queue.key == "rq:queue:jobs"
    assert keys.taken_list(queue.key) == queue.intermediate_queue_key
    assert keys.QUEUES == "rq:queues"
    assert keys.job_hash("x") == "rq:job:x"
    assert FailedJobRegistry(queue=queue).key == keys.FAILED_KEPT


def test_making_a_job_does_not_touch_its_connection() -> None:
    job = Job.create(
        keys.ADVANCE,
        args=["ws_x"],
        id="advance-ws_x",
        connection=cast(redis.Redis, object()),
        serializer=JSONSerializer,
        retry=Retry(max=2),
    )
    assert job.to_dict()["retries_left"] == 2


def test_every_field_of_a_job_is_known_as_harmless_or_refused() -> None:
    job = Job.create(
        keys.ADVANCE,
        args=["ws_x"],
        connection=cast(redis.Redis, object()),
        serializer=JSONSerializer,
        on_success=Callback("a.b"),
        on_failure=Callback("a.b"),
        on_stopped=Callback("a.b"),
        webhooks=[Webhook("http://127.0.0.1/", "finished")],
        depends_on=Dependency("other", allow_failure=True, enqueue_at_front=True),
        retry=Retry(max=1, interval=[1], enqueue_at_front=True),
        group_id="g",
        meta={"a": 1},
        ttl=1,
        result_ttl=1,
        failure_ttl=1,
        timeout=1,
        description="d",
        origin="o",
    )
    job.repeats_left, job.repeat_intervals = 1, [1]
    limit = RateLimit("k", 1)
    job.rate_limit_key, job.rate_limit_concurrency = limit.key, limit.concurrency
    job.number_of_retries = 1
    fields = set(job.to_dict())
    acting = {name.decode() for name in _ACTING_FIELDS}
    assert acting <= fields
    assert fields - acting <= _HARMLESS_FIELDS


def test_a_worker_holds_its_executions_by_id() -> None:
    assert "executions" in inspect.getsource(BaseWorker.__init__)
    assert isinstance(inspect.getattr_static(BaseWorker, "connection_timeout"), property)
