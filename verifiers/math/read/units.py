"""Exact units: name -> (factor to the base unit, dimensions). Base: SI, each money, byte, radian, percent.

Offset temperatures (`degC`, `degF`) have dimensions of their own, so they never convert.
"""

from __future__ import annotations

from fractions import Fraction

Dimensions = tuple[tuple[str, int], ...]
Unit = tuple[Fraction, Dimensions, bool]
"""Factor, dimensions, and whether a factor pi belongs to it (degrees)."""

_BASE: dict[str, str] = {
    # each row: unit, factor, unit, factor, ...
    "m": (
        "m 1 meter 1 meters 1 metre 1 metres 1 km 1000 kilometer 1000 kilometers 1000 kilometre 1000 "
        "kilometres 1000 "
        "dm 1/10 decimeter 1/10 decimeters 1/10 cm 1/100 centimeter 1/100 centimeters 1/100 centimetre 1/100 "
        "centimetres 1/100 mm 1/1000 millimeter 1/1000 millimeters 1/1000 millimetre 1/1000 millimetres "
        "1/1000 "
        "um 1/1000000 micrometer 1/1000000 micrometers 1/1000000 nm 1/1000000000 nanometer 1/1000000000 "
        "nanometers 1/1000000000 pm 1/1000000000000 in 127/5000 inch 127/5000 inches 127/5000 ft 381/1250 "
        "foot 381/1250 feet 381/1250 yd 1143/1250 yard 1143/1250 yards 1143/1250 mi 201168/125 mile "
        "201168/125 "
        "miles 201168/125 nmi 1852"
    ),
    "kg": (
        "kg 1 kilogram 1 kilograms 1 kilo 1 kilos 1 g 1/1000 gram 1/1000 grams 1/1000 mg 1/1000000 "
        "milligram 1/1000000 "
        "milligrams 1/1000000 ug 1/1000000000 "
        "t 1000 tonne 1000 tonnes 1000 lb 45359237/100000000 lbs 45359237/100000000 "
        "pound 45359237/100000000 pounds 45359237/100000000 oz 45359237/1600000000 ounce 45359237/1600000000 "
        "ounces 45359237/1600000000"
    ),
    "s": (
        "s 1 sec 1 secs 1 second 1 seconds 1 ms 1/1000 millisecond 1/1000 milliseconds 1/1000 us 1/1000000 "
        "ns 1/1000000000 min 60 mins 60 minute 60 minutes 60 h 3600 hr 3600 hrs 3600 hour 3600 hours 3600 "
        "day 86400 "
        "days 86400 week 604800 weeks 604800"
    ),
    "month": (
        "month 1 months 1 yr 12 yrs 12 year 12 years 12 decade 120 decades 120 century 1200 "
        "centuries 1200"
    ),
    "A": ("A 1 amp 1 amps 1 ampere 1 amperes 1 mA 1/1000 uA 1/1000000"),
    "K": ("K 1 kelvin 1 kelvins 1"),
    "degC": ("degC 1 celsius 1"),
    "degF": ("degF 1 fahrenheit 1"),
    "mol": ("mol 1 mole 1 moles 1 mmol 1/1000 umol 1/1000000"),
    "cd": ("cd 1 candela 1"),
    "USD": ("USD 1 dollar 1 dollars 1 cent 1/100 cents 1/100 bucks 1"),
    "EUR": ("EUR 1 euro 1 euros 1"),
    "GBP": ("GBP 1"),
    "JPY": ("JPY 1 yen 1"),
    "INR": ("INR 1 rupee 1 rupees 1"),
    "CNY": ("CNY 1 yuan 1 RMB 1"),
    "byte": ("byte 1 bytes 1 bit 1/8 bits 1/8 kB 1000 KB 1000 MB 1000000 GB 1000000000 KiB 1024 MiB 1048576"),
    "rad": ("rad 1 rads 1 radian 1 radians 1"),
    "unit": ("unit 1 units 1"),
    "%": ("% 1 percent 1 pct 1 percentage 1 percents 1"),
}  # fmt: skip

_DERIVED: dict[str, tuple[str, dict[str, int]]] = {
    "L 1/1000 l 1/1000 liter 1/1000 liters 1/1000 litre 1/1000 litres 1/1000 mL 1/1000000 ml 1/1000000 "
    "milliliter 1/1000000 milliliters 1/1000000 uL 1/1000000000 "
    "cc 1/1000000 dL 1/10000 cL 1/100000": ("volume", {"m": 3}),
    "ha 10000 hectare 10000 hectares 10000 acre 316160658/78125 acres 316160658/78125": ("area", {"m": 2}),
    "N 1 newton 1 newtons 1 kN 1000 dyn 1/100000": ("force", {"kg": 1, "m": 1, "s": -2}),
    "J 1 joule 1 joules 1 kJ 1000 MJ 1000000 mJ 1/1000 eV 801088317/5000000000000000000000000000 "
    "keV 801088317/5000000000000000000000000 MeV 801088317/5000000000000000000000 "
    "GeV 801088317/5000000000000000000 cal 523/125 kcal 4184 kWh 3600000 Wh 3600": (
        "energy",
        {"kg": 1, "m": 2, "s": -2},
    ),
    "W 1 watt 1 watts 1 kW 1000 MW 1000000": ("power", {"kg": 1, "m": 2, "s": -3}),
    "Pa 1 pascal 1 pascals 1 kPa 1000 MPa 1000000 bar 100000 atm 101325": ("pressure", {"kg": 1, "m": -1,
    "s": -2}),
    "V 1 volt 1 volts 1 mV 1/1000 kV 1000 uV 1/1000000": ("voltage", {"kg": 1, "m": 2, "s": -3, "A": -1}),
    "ohm 1 ohms 1 kohm 1000 Mohm 1000000 mohm 1/1000": ("resistance", {"kg": 1, "m": 2, "s": -3, "A": -2}),
    "Hz 1 hertz 1 kHz 1000 MHz 1000000 GHz 1000000000": ("frequency", {"s": -1}),
    "M 1000": ("concentration", {"mol": 1, "m": -3}),
    "F 1 farad 1 farads 1 mF 1/1000 uF 1/1000000 nF 1/1000000000 pF 1/1000000000000": (
        "capacitance",
        {"kg": -1, "m": -2, "s": 4, "A": 2},
    ),
    "H 1 henry 1 henries 1 mH 1/1000 uH 1/1000000": ("inductance", {"kg": 1, "m": 2, "s": -2, "A": -2}),
    "Wb 1 weber 1 webers 1": ("flux", {"kg": 1, "m": 2, "s": -2, "A": -1}),
    "T 1 tesla 1 mT 1/1000 uT 1/1000000": ("field", {"kg": 1, "s": -2, "A": -1}),
    "mph 1397/3125": ("speed", {"m": 1, "s": -1}),
    "kph 5/18 kmh 5/18 kmph 5/18": ("speed", {"m": 1, "s": -1}),
    "C 1 coulomb 1 coulombs 1 mC 1/1000 uC 1/1000000 nC 1/1000000000": ("charge", {"A": 1, "s": 1}),
}  # fmt: skip


def _table() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for base, row in _BASE.items():
        words = row.split()
        for name, factor in zip(words[::2], words[1::2], strict=True):
            units[name] = (Fraction(factor), ((base, 1),), False)
    for row, (_, powers) in _DERIVED.items():
        words = row.split()
        for name, factor in zip(words[::2], words[1::2], strict=True):
            units[name] = (Fraction(factor), tuple(sorted(powers.items())), False)
    for name in ("deg", "degree", "degrees"):
        units[name] = (Fraction(1, 180), (("rad", 1),), True)
    units["US cent"] = units["cent"]
    return units


UNITS = _table()
UNIT_LETTERS = frozenset("mgshLlVAWJNKCTtMFH")
"""Single letters that are units when set off from the number by a space or \\text."""

SCALES = {
    "dozen": 12, "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
TEMPERATURES = {"celsius": "degC", "c": "degC", "fahrenheit": "degF", "f": "degF"}
"""Scales that may stand behind the word `degrees`."""

NOUN_PREFIXES = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
NOUN_SUFFIXES = {"squared": 2, "cubed": 3}


def resolve(unit: tuple[tuple[str, int], ...]) -> Unit:
    """One factor and the dimensions of a product of powers of known units."""
    factor, turns, powers = Fraction(1), 0, dict[str, int]()
    for name, power in unit:
        scale, dimensions, has_pi = UNITS[name]
        factor *= scale**power
        turns += power * has_pi
        for base, exponent in dimensions:
            powers[base] = powers.get(base, 0) + exponent * power
    return factor, tuple(sorted((base, power) for base, power in powers.items() if power)), turns == 1
