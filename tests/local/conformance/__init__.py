"""Amazon SWF as it is specified, case by case: operations, decisions, events, rules, limits."""
