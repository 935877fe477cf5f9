from greenhouse.convert import from_millidegrees, to_celsius


def test_water_boils_at_100_degrees_celsius():
    assert to_celsius(212, "fahrenheit") == 100
    assert to_celsius(373.15, "kelvin") == 100


def test_millidegrees():
    assert from_millidegrees(21_500) == 21.5
