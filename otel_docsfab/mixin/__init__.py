"""Dashboards, rules and alerts, made from the catalogue (extra ``[mixin]``)."""
