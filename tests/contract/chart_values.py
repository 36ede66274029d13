"""Names the sets of values that the chart is rendered with."""

import copy
from typing import Any


def merged(*sets: dict[str, Any]) -> dict[str, Any]:
    """Values laid over each other as helm does with several `-f`."""
    result: dict[str, Any] = {}
    for each in sets:
        _lay_over(result, copy.deepcopy(each))
    return result


def _lay_over(below: dict[str, Any], above: dict[str, Any]) -> None:
    for key, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(key), dict):
            _lay_over(below[key], value)
        else:
            below[key] = value


GIVEN: dict[str, Any] = {
    "database": {"host": "db.example", "password": "p@ss w+rd/%"},
    "redis": {"host": "redis.example", "password": "x/y"},
    "adminToken": "admin-token-that-is-long",
    "gateway": {"serviceSecret": "service-secret-of-thirty-two-and-more"},
}
EXISTING: dict[str, Any] = {"existingSecret": "ours"}
MODELS: dict[str, Any] = {
    "models": {
        "main": {
            "provider": "openai",
            "model": "gpt-4.1",
            "baseUrl": "http://vllm.models:8000/v1",
            "contextWindow": 1000000,
            "keySecret": {"name": "openai", "key": "api-key"},
        },
        "second_one": {"provider": "anthropic", "model": "claude-sonnet-4-5"},
    },
    "defaultModel": "second_one",
}
KEDA: dict[str, Any] = {
    "metricsToken": "metrics-token-that-is-long",
    "node": {"autoscaling": {"kind": "keda"}},
}
EVERYTHING: dict[str, Any] = {
    **MODELS,
    "image": {"repository": "registry.example/redshank", "digest": f"sha256:{'0' * 64}"},
    "metricsToken": "metrics-token-that-is-long",
    "settings": {"REDSHANK_LIMITS__MAX_TIMEOUT_MS": "60000", "REDSHANK_LOG__LEVEL": "debug"},
    "console": {
        "publicUrl": "https://redshank.example",
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "agents", "operator": "Exists"}],
        "podAnnotations": {"a": "b"},
    },
    "ingress": {
        "enabled": True,
        "host": "redshank.example",
        "className": "nginx",
        "tlsSecret": "cert",
        "annotations": {"nginx.ingress.kubernetes.io/proxy-buffering": "off"},
    },
    "node": {"workspace": {"kind": "existing", "existingClaim": "files"}},
    "gateway": {
        "replicas": 2,
        "discordSecret": {"name": "discord", "key": "token"},
        "users": {"ada": {"channel_type": "discord", "channel_id": "1"}},
        "settings": {"REDSHANK_GATEWAY__DELIVERY_SECONDS": "5"},
    },
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "ledger": {"existingSecret": "ledger-key"},
    "vault": {"existingSecret": "vault-key"},
    "networkPolicy": {
        "consoleFrom": [{"namespaceSelector": {}}],
        "metricsFrom": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}],
        "databaseTo": [{"ipBlock": {"cidr": "10.0.0.5/32"}}],
        "redisTo": [{"ipBlock": {"cidr": "10.0.0.6/32"}}],
        "nodeEgress": [{"ports": [{"port": 8000}]}],
    },
}
BARE: dict[str, Any] = {
    "gateway": {"enabled": False},
    "migration": {"enabled": False},
    "networkPolicy": {"enabled": False},
    "serviceAccount": {"create": False},
    "console": {"replicas": 1, "preStopSeconds": 0},
    "node": {
        "replicas": 1,
        "preStopSeconds": 0,
        "autoscaling": {"kind": "none"},
        "workspace": {"kind": "ephemeral"},
    },
}

VALUE_SETS = {
    "given": GIVEN,
    "existing secret": EXISTING,
    "models": merged(GIVEN, MODELS),
    "keda": merged(GIVEN, KEDA),
    "keda by prometheus": merged(
        GIVEN,
        {"node": {"autoscaling": {"kind": "keda", "prometheusAddress": "http://prometheus:9090"}}},
    ),
    "everything": merged(GIVEN, EVERYTHING),
    "bare": merged(GIVEN, BARE),
}
