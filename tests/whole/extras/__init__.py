"""Each extra, installed from the wheel alone, at its main job. See scripts/suites/extras."""
