"""A slow, simple judge of plans that shares no code with the proof: it builds states of a plan and walks every packet.

States of a step: subsets of its changes are applied (per host in their order, since a host pins before it raises), then
device after device is confirmed, and in each of these states each device is rebooted into what it had persisted. The
fabric is read straight from the inventory that the test made. Returns sentences; an empty list is a good plan.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
from ipaddress import ip_network

BASELINE = 1500
LARGE = 10178  # what a box takes with large frames: 10200 less a header and two tags
ALL_SUBSETS = 16  # up to so many, all are built; beyond, those with one host apart from the others


class World:
    """Running and saved values from the states: sizes[device][interface], routes[device][interface][prefix].

    boxes[device]: what every port of the device takes, where that is one size for all; a switched port has no other.
    forgetful: devices that have no place to save anything. drained: ends around which traffic is led.
    """

    forgetful = frozenset()
    drained = frozenset()

    def __init__(self, sizes, routes, boxes, saved_sizes, saved_routes, saved_boxes):
        self.sizes, self.routes, self.boxes = sizes, routes, boxes
        self.saved_sizes, self.saved_routes, self.saved_boxes = saved_sizes, saved_routes, saved_boxes

    @classmethod
    def of(cls, states):
        sizes = {d: {n: i["ip_mtu"] for n, i in s["interfaces"].items()} for d, s in states.items()}
        routes = {}
        for device, state in states.items():
            for route in state.get("routes", ()):
                routes.setdefault(device, {}).setdefault(route["interface"], {})[route["prefix"]] = route["mtu"]
        saved = copy.deepcopy(routes)
        for device, state in states.items():
            if (state.get("guard") or {}).get("state") == "confirmed":  # it holds lifts that a reboot forgets
                for ways in saved[device].values():
                    ways.update({p: BASELINE for p, mtu in ways.items() if mtu is not None and mtu > BASELINE})
        told = {device: state["jumbo"] for device, state in states.items() if "jumbo" in state}
        boxes, saved_boxes = (
            {device: LARGE if jumbo[word] else BASELINE for device, jumbo in told.items()}
            for word in ("active", "saved")
        )
        world = cls(sizes, routes, boxes, copy.deepcopy(sizes), saved, saved_boxes)
        world.forgetful = {device for device, state in states.items() if not state.get("persistence", "a switch saves")}
        return world

    def copy(self):
        parts = (self.sizes, self.routes, self.boxes, self.saved_sizes, self.saved_routes, self.saved_boxes)
        again = World(*({k: dict(v) if isinstance(v, dict) else v for k, v in part.items()} for part in parts))
        again.forgetful, again.drained = self.forgetful, self.drained
        return again

    def carried(self):
        """Return {end: what it sends and carries}: its own size, at most what its box takes."""
        each = ((device, name, size) for device, ports in self.sizes.items() for name, size in ports.items())
        return {f"{d}:{n}": min(s or LARGE, self.boxes.get(d, s or LARGE)) for d, n, s in each}

    def route(self, device, name):
        """Return the routes of an interface, fit to be changed."""
        self.routes[device][name] = dict(self.routes[device][name])
        return self.routes[device][name]

    def apply(self, change):
        device, (name, _space, prefix) = change["host"], change["object"].partition(" ")
        if change["field"] == "ip_mtu":
            self.sizes[device][name] = change["to"]
        elif change["field"] == "jumbo":
            self.boxes[device] = LARGE
        elif change["field"] == "drained":
            end = {f"{device}:{name}"}
            self.drained = self.drained | end if change["to"] else self.drained - end
        elif change["field"] == "route_mtu":
            routes = self.route(device, name)
            for known in [prefix] if prefix else list(routes):
                routes[known] = change["to"]

    def confirm(self, changes, lifted):
        """Persist what a confirm persists: sizes and pins at once, lifts only with the field persisted."""
        for change in changes:
            device, (name, _space, prefix) = change["host"], change["object"].partition(" ")
            if device in self.forgetful:
                continue
            if change["field"] == "ip_mtu":
                self.saved_sizes[device][name] = self.sizes[device][name]
            elif change["field"] == "jumbo":
                self.saved_boxes[device] = LARGE
            elif change["field"] == "persisted":
                kept = dict(self.routes[device][name])
                if not change["to"]:  # forgotten, whatever runs
                    kept = {p: BASELINE if mtu is not None and mtu > BASELINE else mtu for p, mtu in kept.items()}
                self.saved_routes[device][name] = kept
            elif change["field"] == "route_mtu" and not prefix:
                kept = {p: m for p, m in self.routes[device][name].items() if (device, name, p) not in lifted}
                self.saved_routes[device][name] = kept

    def reboots(self):
        """Yield (device, world) for each device that would come back with other values than it runs."""
        for device, sizes in self.sizes.items():
            routes, saved = self.routes.get(device), self.saved_routes.get(device)
            box = self.boxes.get(device) != self.saved_boxes.get(device)
            if sizes != self.saved_sizes[device] or routes != saved or box:
                again = self.copy()
                again.sizes[device] = dict(self.saved_sizes[device])
                again.boxes.update({device: self.saved_boxes[device]} if box else {})
                if saved is not None:
                    again.routes[device] = dict(saved)
                yield device, again


def states_of_step(world, changes, lifted):
    """Yield (what happened, world) for the ways a step may be half done, then confirmed device by device."""
    hosts = list(dict.fromkeys(c["host"] for c in changes))
    by_host = [[c for c in changes if c["host"] == host] for host in hosts]
    for counts in subsets([len(own) for own in by_host]):
        half = world.copy()
        done = [change for own, count in zip(by_host, counts, strict=True) for change in own[:count]]
        for change in done:
            half.apply(change)
        yield f"{len(done)} of {len(changes)} changes", half
    after = world.copy()
    for change in changes:
        after.apply(change)
    for host in hosts:  # confirms come one device after the other
        after.confirm([c for c in changes if c["host"] == host], lifted)
        yield f"confirmed up to {host}", after.copy()
        late = after.copy()  # the timers of all others fire before their confirm arrives
        for change in reversed([c for c in changes if c["host"] in hosts[hosts.index(host) + 1 :]]):
            late.apply({**change, "to": change["from"]})
        yield f"timers fired after {host}", late


def subsets(lengths):
    """Yield how many changes of each host are applied."""
    if math.prod(length + 1 for length in lengths) <= ALL_SUBSETS:
        yield from itertools.product(*(range(length + 1) for length in lengths))
        return
    none, every = [0] * len(lengths), list(lengths)
    yield from (none, every)
    for index, length in enumerate(lengths):
        for count in range(length + 1):
            yield [*none[:index], count, *none[index + 1 :]]
            yield [*every[:index], count, *every[index + 1 :]]


class Walker:
    """Walks packets through the fabric: next hops by breadth-first distance, sizes as they are in a world.

    A host's interface has one cable, or one per member of its bond. The two leafs of a pair reach each other's hosts by
    their peer link; leafs of a stretched segment by the routed links, which then switch.
    """

    def __init__(self, hosts):
        variables = next(iter(hosts.values()))["variables"]
        lags = variables.get("jumbo_lags", ())
        bonds = {f"{g['device']}:{m}": f"{g['device']}:{g['name']}" for g in lags for m in g["members"]}
        pairs = [pair["devices"] for pair in variables.get("jumbo_pairs", ())]
        self.cables = {}  # host's end -> ports of leafs
        self.neighbours = {}
        self.uneven = set()
        self.sessions = variables.get("jumbo_control_sessions", [])
        self.firewalls = [name for name, host in hosts.items() if host["platform"] == "opnsense"]
        self.waived = {w["object"] for w in variables.get("jumbo_waivers", ()) if w["kind"] == "only_path"}
        self.peer = {}  # (leaf, other leaf of its pair) -> (port, port)
        for entry in variables["jumbo_links"]:
            a, b = entry["ends"] if isinstance(entry, dict) else entry
            one, other = a.split(":")[0], b.split(":")[0]
            if isinstance(entry, dict):
                self.neighbours.setdefault(one, []).append((a, b, other))
                self.neighbours.setdefault(other, []).append((b, a, one))
            elif any({one, other} == set(pair) for pair in pairs):
                self.peer[one, other], self.peer[other, one] = (a, b), (b, a)
            else:
                self.cables.setdefault(bonds.get(a, a), []).append(b)
        self.segments = [s for s in variables["jumbo_segments"] if s["role"] == "jumbo"]
        self.home = {member: s for s in self.segments for member in s["members"]}
        self.gateways = {s["name"]: [m for m in s["members"] if ":Vlan" in m] for s in self.segments}
        self._distances = {}
        ends = [(a, b) for a in self.hosts() for b in self.home if a != b]
        self.ways = {pair: list(self.steps_to(*pair)) for pair in ends}
        self.prefixes = {member: segment["subnets"] for member, segment in self.home.items()}
        self.deliveries = [(g, m) for s in self.segments for g in self.gateways[s["name"]] for m in s["members"]]
        self.deliveries = [(gateway, member) for gateway, member in self.deliveries if ":Vlan" not in member]
        # What a pair's packets cross on any of its paths, and the pairs that a device has to do with.
        self.crossed = {}
        self.about = {}
        for pair, ways in self.ways.items():
            ends = [end for way in ways for sender, receiver, _routed in way for end in (sender, receiver)]
            self.crossed[pair] = list(dict.fromkeys([*ends, pair[1]]))
            for device in {end.split(":")[0] for end in self.crossed[pair]}:
                self.about.setdefault(device, []).append(pair)

    def hosts(self):
        return [member for member in self.home if ":Vlan" not in member]

    def distance(self, start, stop):
        if stop not in self._distances:
            seen, queue = {stop: 0}, [stop]
            while queue:
                here = queue.pop(0)
                for _port, _far, there in self.neighbours.get(here, ()):
                    if there not in seen:
                        seen[there] = seen[here] + 1
                        queue.append(there)
            self._distances[stop] = seen
        return self._distances[stop].get(start)

    def steps_to(self, source, target):
        """Yield every list of (what sends, what receives, whether it routes) from a host to a member."""
        here, there = self.home[source], self.home[target]
        for port in self.cables[source]:
            first, leaf = (source, port, True), port.split(":")[0]
            if here is there:
                yield from ([first, *rest] for rest in self.delivery(leaf, target))
                continue
            stops = [gateway.split(":")[0] for gateway in self.gateways[there["name"]]]
            nearest = min(self.distance(leaf, stop) for stop in stops)
            for stop in (stop for stop in stops if self.distance(leaf, stop) == nearest):
                gateway = next((g for g in self.gateways[there["name"]] if g.startswith(f"{stop}:")), None)
                for middle in self._routes(leaf, stop):
                    for rest in self.delivery(stop, target):
                        yield [first, *middle, (gateway, rest[0][1] if rest else gateway, True), *rest]

    def behind(self, device, member):
        """Return what packets cross from a router of the fabric to a host, on every shortest way."""
        gateways = {gateway.split(":")[0]: gateway for gateway in self.gateways[self.home[member]["name"]]}
        nearest = min(self.distance(device, stop) for stop in gateways)
        found = []
        for stop in (stop for stop in gateways if self.distance(device, stop) == nearest):
            for middle in self._routes(device, stop):
                for rest in self.delivery(stop, member):
                    found += [end for sender, receiver, _routed in (*middle, *rest) for end in (sender, receiver)]
                    found.append(gateways[stop])
        return dict.fromkeys(found)

    def delivery(self, leaf, target):
        """Yield the steps from a leaf to a member of its segment: by its own port, by the peer link, by the fabric."""
        ports = self.cables.get(target)
        if not ports:  # a gateway: the switch itself
            stop = target.split(":")[0]
            yield from [[]] if stop == leaf else self._towards(leaf, stop)
            return
        local = [port for port in ports if port.split(":")[0] == leaf]
        if local:
            yield from ([(port, target, False)] for port in local)
            return
        for port in ports:
            yield from ([*way, (port, target, False)] for way in self._towards(leaf, port.split(":")[0]))

    def _towards(self, leaf, stop):
        if (leaf, stop) in self.peer:
            yield [(*self.peer[leaf, stop], False)]
        else:
            yield from ([(port, entry, False) for port, entry, _routed in way] for way in self._routes(leaf, stop))

    def _routes(self, leaf, far):
        if leaf == far:
            yield []
            return
        for port, entry, device in self.neighbours[leaf]:
            if self.distance(device, far) == self.distance(leaf, far) - 1:
                for rest in self._routes(device, far):
                    yield [(port, entry, True), *rest]


@functools.cache
def covers(outer, inner):
    one, other = ip_network(outer), ip_network(inner)
    return one.version == other.version and one.supernet_of(other)


@functools.cache
def length(prefix):
    return ip_network(prefix).prefixlen


def sent(world, source, prefixes):
    """Return what a host sends at most to some prefixes: the most specific route's MTU, at most the link's.

    Everywhere else (None) goes by the least specific route of either family. Routes inside a prefix count as well.
    """
    device, name = source.split(":")
    link, routes = world.sizes[device][name], world.routes[device][name]
    if prefixes is None:
        chosen = [min((p for p in routes if ip_network(p).version == v), key=length, default=None) for v in (4, 6)]
    else:
        chosen = [max((p for p in routes if covers(p, prefix)), key=length) for prefix in prefixes]
        chosen += [p for p in routes for prefix in prefixes if covers(prefix, p)]
    return max(link if routes[p] is None else min(link, routes[p]) for p in chosen if p is not None)


def faults(world, walker, device=None):
    """Yield sentences about packets that this world loses or answers with "fragmentation needed".

    With a device, only of packets that it sends, carries or receives.
    """
    sizes = world.carried()
    for gateway, member in walker.deliveries:
        if sizes[gateway] > sizes[member]:
            yield f"{gateway} sends {sizes[gateway]} to {member}"
    yield from reassembled(walker, sizes)
    yield from sessions(walker, sizes, world.drained)
    for source in walker.hosts():
        if device in (None, source.split(":")[0]) and sent(world, source, None) > BASELINE:
            yield f"{source} sends {sent(world, source, None)} to everywhere"
    for source, target in walker.about.get(device, walker.ways) if device else walker.ways:
        size = sent(world, source, walker.prefixes[target])
        if size > BASELINE:  # everything carries the baseline
            small = [end for end in walker.crossed[source, target] if sizes[end] < size]
            if small:
                yield f"{size} from {source} to {target}: {small[0]} has {sizes[small[0]]}"


def alone(walker, device):
    """Return hosts' interfaces that are cabled to a device only, and leafs that others no longer reach without it."""
    found = [end for end, ports in walker.cables.items() if {port.split(":")[0] for port in ports} == {device}]
    leafs = {port.split(":")[0] for ports in walker.cables.values() for port in ports} - {device}
    for start in sorted(leafs)[:1]:
        reached, queue = {start, device}, [start]
        while queue:
            fresh = {far for _port, _end, far in walker.neighbours.get(queue.pop(), ())} - reached
            reached |= fresh
            queue += fresh
        found += sorted(leafs - reached)
    return found


def down(step, walker):
    """Return sentences about who has no other way while a step reloads boxes, and no waiver says that it may be so."""
    boxes = [change["host"] for change in step["changes"] if change["field"] == "jumbo"]
    found = [f"{step['id']}: {', '.join(boxes)} are down at once"] if len(boxes) > 1 else []
    for box in boxes:
        if box not in walker.waived:
            found += [f"{step['id']}: {who} is cut off while {box} reloads" for who in alone(walker, box)]
    return found


def reassembled(walker, sizes):
    """Yield sentences about what a firewall may send, as large as its port, and something behind it does not take."""
    for firewall in walker.firewalls:
        for port, entry, device in walker.neighbours.get(firewall, ()):
            for member in walker.hosts() if sizes[port] > BASELINE else ():
                small = [end for end in walker.behind(device, member) if sizes[end] < sizes[port]]
                small += [entry] if sizes[entry] < sizes[port] else []
                if small:
                    yield f"{port} sends {sizes[port]} it has reassembled to {member}: {small[0]} has {sizes[small[0]]}"


def sessions(walker, sizes, drained):
    """Yield sentences about control sessions that may send into a smaller end: as large as first hops at both ends.

    What was uneven before the plan is no fault of it. They may go by every link but the drained: each link of these
    fabrics is on some way between any two routers.
    """
    links = [(device, port, entry) for device, far in walker.neighbours.items() for port, entry, _there in far]
    links = [link for link in links if not {link[1], link[2]} <= drained]
    for ends in walker.sessions:
        first = [max((sizes[port] for device, port, _entry in links if device == end), default=0) for end in ends]
        for _device, port, entry in links:
            size = min(*first, sizes[port])
            if size > max(BASELINE, sizes[entry]) and (port, entry) not in walker.uneven:
                yield f"session {' - '.join(ends)} sends {size} from {port}: {entry} has {sizes[entry]}"


def lost_pins(world, start, walker, whole):
    """Yield sentences about hosts that would send into something smaller of their own segment without their pins.

    The port in front of a host counts always, with `whole` everybody in the segment; what began so is left out.
    """
    sizes, began = world.carried(), start.carried()
    for source in walker.hosts():
        link = sizes[source]
        near = [*walker.cables[source], *(walker.home[source]["members"] if whole else ())]
        for end in near if link > BASELINE else ():
            if sizes[end] < link and not (began[source] >= link > began[end]):
                yield f"{source} without its pins sends {link}: {end} has {sizes[end]}"


def look(name, happened, world, walker, start, whole=False):
    """Return the faults of a world and of each reboot in it."""
    found = [f"{name} ({happened}): {fault}" for fault in faults(world, walker)]
    found += [f"{name} ({happened}): {fault}" for fault in lost_pins(world, start, walker, whole)]
    for device, again in world.reboots():
        both = [*faults(again, walker, device), *lost_pins(again, start, walker, whole)]
        found += [f"{name} ({happened}, {device} rebooted): {fault}" for fault in both]
    return found


def judge(plan, states, hosts):
    """Return the faults of the first state of a plan (a dict) that has any, as sentences with the step."""
    walker, world = Walker(hosts), World.of(states)
    lifted = {
        (c["host"], *c["object"].split(" "))
        for step in plan["steps"]
        for c in step["changes"]
        if " " in c["object"] and c["to"] > BASELINE
    }
    start = world.copy()
    sizes = world.carried()
    cables = [(port, entry) for far in walker.neighbours.values() for port, entry, _there in far]
    walker.uneven = {(port, entry) for port, entry in cables if sizes[port] > sizes[entry]}
    found = look("before", "as it is", world, walker, start)
    for index, step in enumerate(plan["steps"]):
        found = found or down(step, walker)
        for happened, candidate in states_of_step(world, step["changes"], lifted):
            found = found or look(step["id"], happened, candidate, walker, start)
            world = candidate if happened.startswith("confirmed") else world
        if step["stage"] not in {"back", *(later["stage"] for later in plan["steps"][index + 1 :])}:
            found = found or look(step["id"], "the end of its stage", world, walker, start, whole=True)
    return found
