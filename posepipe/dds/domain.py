"""The participant of this process in a domain of ROS 2: on the loopback, unless another network is named.

CycloneDDS announces only the interface that it is given, but binds its sockets to all of them. On the loopback the
kernel is therefore told to deliver to these sockets what comes from this machine, and nothing else.

References
----------
DDSI-RTPS 2.5, 9.6.2.4 (ports); Eclipse Cyclone DDS, configuration guide; ROS 2, ROS_DOMAIN_ID.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
import threading
from contextlib import suppress
from typing import Any

from posepipe.errors import PosepipeError
from posepipe.io.limits import MAX_PIXELS
from posepipe.loopback import LOOPBACK, is_loopback

ANY = "0.0.0.0"  # nosec B104 - what a user writes to choose it, never the default
"""Host that stands for the network that CycloneDDS chooses."""
DOMAIN_VARIABLE = "ROS_DOMAIN_ID"
MAX_DOMAIN = 232
"""Ports of a higher domain would exceed 65,535."""
MAX_MESSAGE_BYTES = 4 * MAX_PIXELS + (1 << 16)
"""A larger message is dropped unread: that is a float image of MAX_PIXELS, and what stands around it."""

_MAX_PARTICIPANTS = 33  # of one machine, on the loopback: ROS has as many
_FIRST_PORT, _PORTS_PER_DOMAIN, _UNICAST_OFFSET = 7400, 250, 10
_INSTALL = "pip install 'posepipe[ros2]'"

_lock = threading.Lock()
_participants: dict[int, RosParticipant] = {}  # by domain


class RosParticipant:
    """The participant of this process in one domain; `join_domain` makes it, and all share it."""

    def __init__(self, domain_id: int, host: str) -> None:
        from cyclonedds.domain import Domain, DomainParticipant

        _silence()
        self.host = host
        self.users = 0
        self._domain_id = domain_id
        self._domain = Domain(domain_id, _configuration(host))
        try:
            if is_loopback(host):
                _keep_to_this_machine(domain_id)
            self.entity: Any = DomainParticipant(domain_id)  #: that readers and writers are made with
        except BaseException:
            delete(self._domain)
            raise

    def leave(self) -> None:
        """End one use; with the last one the process leaves the domain."""
        with _lock:
            self.users -= 1
            if self.users == 0:
                del _participants[self._domain_id]
                delete(self._domain)  # and all that was made in it


def delete(entity: Any) -> None:
    """Delete an entity of DDS now, and all that belongs to it.

    One that the garbage collector finds in a cycle would stay: by then cyclonedds has lost it from its table.
    """
    entity.__del__()


def join_domain(host: str = LOOPBACK) -> RosParticipant:
    """Join the domain of ROS 2 that the environment names (ROS_DOMAIN_ID), else domain 0.

    Each use ends with `RosParticipant.leave`.

    Parameters
    ----------
    host : address of the network interface to use; `ANY` = the one that CycloneDDS chooses

    Raises
    ------
    PosepipeError
        When cyclonedds is missing, this machine has no such address, or another network is in use already.
    """
    host = LOOPBACK if is_loopback(host) else host
    domain_id = _domain_id()
    try:
        import cyclonedds.core
    except ImportError as error:
        raise PosepipeError(f"needs the Python package cyclonedds: {_INSTALL} ({error})") from error
    with _lock:
        found = _participants.get(domain_id)
        if found is None:
            _check_address(host)
            try:
                found = _participants[domain_id] = RosParticipant(domain_id, host)
            except cyclonedds.core.DDSException as error:
                raise PosepipeError(f"cannot join domain {domain_id} of ROS 2 on {host} ({error})") from error
        elif found.host != host:
            raise PosepipeError(f"ROS 2 is in use on {found.host}, wanted {host}; give all of it one address")
        found.users += 1
        return found


def _domain_id() -> int:
    text = os.environ.get(DOMAIN_VARIABLE, "") or "0"
    if not (text.isascii() and text.isdecimal() and len(text) < 4 and int(text) <= MAX_DOMAIN):
        raise PosepipeError(f"{DOMAIN_VARIABLE}: wanted 0 to {MAX_DOMAIN}, got {text!r}")
    return int(text)


def _check_address(host: str) -> None:
    """Raise PosepipeError unless this machine has the address."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind((str(ipaddress.IPv4Address(host)), 0))
    except (ValueError, OSError) as error:
        wanted = f"wanted an IPv4 address of this machine, or {ANY} for any"
        raise PosepipeError(f"{wanted}, got {host!r} ({error})") from error


def _configuration(host: str) -> str:
    """Configuration of CycloneDDS, as XML. CYCLONEDDS_URI is not read: it could open the loopback."""
    if is_loopback(host):
        network = f"""
<General>
  <Interfaces><NetworkInterface address="{host}" multicast="false"/></Interfaces>
  <AllowMulticast>false</AllowMulticast>
</General>
<Discovery>
  <ParticipantIndex>auto</ParticipantIndex>
  <MaxAutoParticipantIndex>{_MAX_PARTICIPANTS - 1}</MaxAutoParticipantIndex>
  <Peers><Peer address="{host}"/></Peers>
</Discovery>"""
    else:
        interface = 'autodetermine="true"' if host == ANY else f'address="{host}"'
        network = f"<General><Interfaces><NetworkInterface {interface}/></Interfaces></General>"
    limits = f"<Internal><MaxSampleSize>{MAX_MESSAGE_BYTES}B</MaxSampleSize></Internal>"
    return f'<CycloneDDS><Domain Id="any">{network}{limits}</Domain></CycloneDDS>'


def _silence() -> None:
    """Drop the lines that CycloneDDS writes on standard error, such as one for each message that is too large."""
    from cyclonedds.internal import DDS

    DDS._dll_handle.dds_set_log_mask(0)


def _keep_to_this_machine(domain_id: int) -> None:
    """Bind the sockets of a domain, which listen on all interfaces, to the loopback device.

    Raises PosepipeError where the system cannot do so.
    """
    bound = 0
    problem = f"{sys.platform} has no way to do so"
    if sys.platform == "linux":
        first = _FIRST_PORT + _PORTS_PER_DOMAIN * domain_id + _UNICAST_OFFSET
        ports = range(first, first + 2 * _MAX_PARTICIPANTS)
        try:
            bound = sum(_bind_to_loopback(int(name), ports) for name in os.listdir("/proc/self/fd"))
        except OSError as error:
            problem = error.strerror or str(error)
    if bound == 0:
        raise PosepipeError(f"cannot keep ROS 2 to this machine ({problem}); name a network, such as {ANY}")


def _bind_to_loopback(descriptor: int, ports: range) -> bool:
    """Bind a socket to the loopback device if it is one of UDP that listens everywhere, on one of some ports."""
    try:
        found = socket.socket(fileno=descriptor)
    except OSError:  # closed by now, or no socket
        return False
    try:
        with suppress(OSError):
            if found.type != socket.SOCK_DGRAM or found.family != socket.AF_INET:
                return False
            host, port = found.getsockname()
            if host != ANY or port not in ports:
                return False
        found.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
        return True
    finally:
        found.detach()
