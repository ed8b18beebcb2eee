"""``slapd`` (OpenLDAP) as a process of the tests, with a certificate of its own."""

from __future__ import annotations

import datetime
import ipaddress
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.support.servers import free_port

ADDRESS = "127.0.0.1"
SUFFIX = "dc=example,dc=com"
PEOPLE, GROUPS = f"ou=people,{SUFFIX}", f"ou=groups,{SUFFIX}"
SERVICE, SERVICE_PASSWORD = f"cn=netinv,{SUFFIX}", "service password"
SLAPD = shutil.which("slapd") or "/usr/sbin/slapd"
CONFIGURATION = """\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {folder}/slapd.pid
TLSCACertificateFile {folder}/certificate.pem
TLSCertificateFile {folder}/certificate.pem
TLSCertificateKeyFile {folder}/key.pem
security simple_bind=128
database mdb
suffix "{suffix}"
rootdn "{service}"
rootpw "{password}"
directory {folder}/data
access to attrs=userPassword by anonymous auth
access to * by * none
"""
PERSON = """\
dn: {dn}
objectClass: inetOrgPerson
uid: {uid}
cn: {uid}
sn: Lovelace
givenName: Ada
mail: {uid}@example.com
userPassword: {password}

"""


def write_certificate(folder: Path) -> None:
    """Writes a certificate for :data:`ADDRESS` that signs itself, and its key."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "slapd of the tests")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(ADDRESS))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL
    (folder / "key.pem").write_bytes(key.private_bytes(encoding, form, serialization.NoEncryption()))


class Directory:
    """A running server: its URL, its certificate, and changes of its entries."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.certificate = folder / "certificate.pem"
        write_certificate(folder)
        (folder / "data").mkdir()
        values = {"folder": folder, "suffix": SUFFIX, "service": SERVICE, "password": SERVICE_PASSWORD}
        (folder / "slapd.conf").write_text(CONFIGURATION.format(**values))
        self.port = free_port()
        self.url = f"ldap://{ADDRESS}:{self.port}"
        command = [SLAPD, "-d", "0", "-h", self.url, "-f", str(folder / "slapd.conf")]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._wait()
        self.add(f"dn: {SUFFIX}\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example\n\n")
        for dn in (PEOPLE, GROUPS):
            self.add(f"dn: {dn}\nobjectClass: organizationalUnit\nou: {dn[3:].partition(',')[0]}\n\n")

    def _wait(self) -> None:
        for _ in range(200):
            with socket.socket() as sock:
                if sock.connect_ex((ADDRESS, self.port)) == 0:
                    return
            assert self.process.poll() is None, "slapd has ended"
            time.sleep(0.05)
        raise AssertionError("slapd does not answer")

    def _client(self, command: str, text: str, *arguments: str) -> None:
        access = ["-ZZ", "-x", "-H", self.url, "-D", SERVICE, "-w", SERVICE_PASSWORD]
        environment = {"LDAPTLS_CACERT": str(self.certificate), "PATH": "/usr/bin:/bin"}
        done: Any = subprocess.run(
            [command, *access, *arguments], input=text, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    def add(self, ldif: str) -> None:
        """Adds entries (RFC 2849)."""
        self._client("ldapadd", ldif)

    def person(self, uid: str, password: str, *, dn: str = "") -> str:
        """Adds a person; returns the name of the entry."""
        dn = dn or f"uid={uid},{PEOPLE}"
        self.add(PERSON.format(dn=dn, uid=uid, password=password))
        return dn

    def group(self, name: str, *members: str) -> str:
        """Adds a group; returns the name of the entry."""
        dn = f"cn={name},{GROUPS}"
        self.add(f"dn: {dn}\nobjectClass: groupOfNames\ncn: {name}\n" + "".join(f"member: {dn}\n" for dn in members))
        return dn

    def delete(self, dn: str) -> None:
        """Deletes an entry."""
        self._client("ldapdelete", "", dn)

    def stop(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()
