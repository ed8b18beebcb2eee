"""The demo company: Tarnwell Logistics, a made-up carrier with data centres, distribution hubs and offices.

Names of companies are invented. Domains are those of RFC 2606, telephone numbers and AS numbers those reserved for
documentation (RFC 5398).
"""

from __future__ import annotations

import dataclasses

COMPANY = "Tarnwell Logistics"
DOMAIN = "tarnwell.example"
DATA_CENTRE, HUB, OFFICE = "data centre", "hub", "office"
ASN = 64496


@dataclasses.dataclass(frozen=True)
class SiteProfile:
    """A site of the company. In data centres ``racks`` is the least number; :mod:`netinv_demo.size` has the others."""

    code: str
    name: str
    kind: str
    region: str
    racks: int
    latitude: str
    longitude: str
    time_zone: str
    address: str
    headcount: int


SITES = (
    SiteProfile(
        "rtm",
        "Rotterdam Data Centre",
        DATA_CENTRE,
        "Netherlands",
        2,
        "51.924400",
        "4.477700",
        "Europe/Amsterdam",
        "Havenkade 12, 3011 Rotterdam",
        14,
    ),
    SiteProfile(
        "vie",
        "Vienna Data Centre",
        DATA_CENTRE,
        "Austria",
        2,
        "48.208200",
        "16.373800",
        "Europe/Vienna",
        "Donaulände 8, 1110 Wien",
        11,
    ),
    SiteProfile(
        "got",
        "Gothenburg Hub",
        HUB,
        "Sweden",
        3,
        "57.708900",
        "11.974600",
        "Europe/Stockholm",
        "Hamnvägen 41, 418 34 Göteborg",
        380,
    ),
    SiteProfile(
        "lis",
        "Lisbon Hub",
        HUB,
        "Portugal",
        3,
        "38.722300",
        "-9.139300",
        "Europe/Lisbon",
        "Rua do Cais 77, 1950 Lisboa",
        420,
    ),
    SiteProfile(
        "yhz",
        "Halifax Hub",
        HUB,
        "Canada",
        3,
        "44.648800",
        "-63.575200",
        "America/Halifax",
        "18 Quayside Road, Halifax NS",
        260,
    ),
    SiteProfile(
        "opo",
        "Porto Office",
        OFFICE,
        "Portugal",
        1,
        "41.157900",
        "-8.629100",
        "Europe/Lisbon",
        "Avenida do Rio 5, 4050 Porto",
        65,
    ),
    SiteProfile(
        "ham",
        "Hamburg Office",
        OFFICE,
        "Germany",
        2,
        "53.551100",
        "9.993700",
        "Europe/Berlin",
        "Speicherweg 3, 20457 Hamburg",
        140,
    ),
    SiteProfile(
        "prg",
        "Prague Office",
        OFFICE,
        "Czechia",
        1,
        "50.075500",
        "14.437800",
        "Europe/Prague",
        "Nábřežní 21, 110 00 Praha",
        48,
    ),
    SiteProfile(
        "gdn",
        "Gdańsk Office",
        OFFICE,
        "Poland",
        1,
        "54.352000",
        "18.646600",
        "Europe/Warsaw",
        "ul. Portowa 9, 80-001 Gdańsk",
        72,
    ),
    SiteProfile(
        "bos",
        "Boston Office",
        OFFICE,
        "United States",
        2,
        "42.360100",
        "-71.058900",
        "America/New_York",
        "210 Wharf Street, Boston MA",
        110,
    ),
    SiteProfile(
        "sin",
        "Singapore Office",
        OFFICE,
        "Singapore",
        1,
        "1.352100",
        "103.819800",
        "Asia/Singapore",
        "6 Harbour Rise, Singapore",
        55,
    ),
    SiteProfile(
        "mel",
        "Melbourne Office",
        OFFICE,
        "Australia",
        1,
        "-37.813600",
        "144.963100",
        "Australia/Melbourne",
        "90 Dock Lane, Melbourne VIC",
        38,
    ),
)
REGIONS = {
    "Europe": ("Netherlands", "Austria", "Sweden", "Portugal", "Germany", "Czechia", "Poland"),
    "North America": ("Canada", "United States"),
    "Asia Pacific": ("Singapore", "Australia"),
}
TENANTS = {
    "Business units": ("Freight", "Warehousing", "Customs Services"),
    "Corporate functions": ("IT Infrastructure", "Finance", "People"),
    "Customers": ("Orrinfield Retail", "Vassby Foods"),
}
INFRASTRUCTURE = "IT Infrastructure"
CONTACTS = ("Marta Quill", "Jonas Abelard", "Ines Corvo", "Tobias Lindqvist", "Priya Sorel", "Hanna Wexley")
