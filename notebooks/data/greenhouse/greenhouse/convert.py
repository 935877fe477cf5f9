"""Units of temperature."""


def to_celsius(degrees: float, unit: str) -> float:
    """Degrees of a unit in Celsius; an unknown unit is taken as Celsius."""
    if unit == "fahrenheit":
        return (degrees - 32) * 5 / 9
    if unit == "kelvin":
        return degrees - 273.15
    return degrees


def from_millidegrees(raw: int) -> float:
    """What the first generation of sensors sent."""
    return raw / 1000
