"""Threads of linear algebra: threadpoolctl, imported without the environment variable that it sets for all programs."""

from bayesbias.base.machine.environment import same_environment

with same_environment():
    from threadpoolctl import ThreadpoolController, threadpool_limits

__all__ = ["ThreadpoolController", "threadpool_limits"]
