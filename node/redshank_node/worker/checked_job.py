"""A kept job as RQ reads it, refused where its hash was tampered with."""

import logging
from typing import Any

from rq.exceptions import NoSuchJobError
from rq.job import Job

from redshank_node.worker.jobs import checked_call, checked_fields
from redshank_shared.domain.errors import Invalid

logger = logging.getLogger(__name__)


class CheckedJob(Job):
    """To RQ, a job that is not on the list does not exist: it is neither run, nor retried, nor
    called back (F70).
    """

    def restore(self, raw_data: Any) -> Any:
        """Raises NoSuchJobError for a hash that does not hold exactly one allowed call."""
        try:
            checked_fields(raw_data)
            checked_call(raw_data.get(b"data", b""))
        except Invalid as refusal:
            logger.error("job %.80r refused: %s", self.id, refusal.detail)
            raise NoSuchJobError(f"refused: {refusal.detail}") from refusal
        try:
            return super().restore(raw_data)
        except Exception as error:  # noqa: BLE001 - whatever a tampered hash makes RQ raise, it is refused
            logger.error("job %.80r refused: its hash cannot be read: %s", self.id, error)
            raise NoSuchJobError("refused: the hash cannot be read") from error
