"""Description of a pool of a cluster: nodes, drives, copies or fragments, network, daemons."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from diskmodel.description import Reader
from diskmodel.drive.card import OtherPrograms, OwnEffort, Trouble
from diskmodel.drive.cluster.costs import Costs, Release, is_before
from diskmodel.drive.cluster.software import SOFTWARE, Software, SoftwareName
from diskmodel.drive.cluster.tables import ClusterTables
from diskmodel.drive.cluster.troubles import TROUBLES
from diskmodel.drive.cluster.words import cluster_of_words, is_cluster
from diskmodel.drive.flash.description import Flash
from diskmodel.drive.members import Member
from diskmodel.drive.perturbation import DrivePerturbation
from diskmodel.drive.profile import Profile
from diskmodel.drive.system import System, sizes_to_be
from diskmodel.units import NS_PER_S, BytesPerSecond, Length, Nanoseconds, Ratio, in_hours_or_days

#: Bytes of an object of an image (`rbd_default_order` 22).
OBJECT_BYTES = 4 << 20
#: Placement groups of an OSD that the autoscaler and Ceph's documentation aim at (`mon_target_pg_per_osd`).
PGS_PER_OSD = 100
MAX_PGS = 1 << 16
#: Round trips of a small message between two programs by the bit rate of the links, ns, the first that is not above it.
#: About 100 us of 10 GbE between a client and an OSD are in N. Fisk, Mastering Ceph; faster links have faster
#: interfaces, too. At double a replicated write of flash takes a third longer.
ROUND_TRIPS_NS = ((40e9, 30_000), (20e9, 45_000), (5e9, 80_000), (0, 200_000))
#: Cores for each OSD where nothing is said, on flash and on hard disks: Ceph's hardware recommendations have 4 to 6 and
#: 1 to 2 hardware threads.
CORES_PER_OSD = (3, 1)
_LEAST_CORES = 4
#: What a message takes beside the programs at its ends, ns at least: network cards, cables, a switch.
_LEAST_TRIP_NS = 2_000
#: Fields that only Ceph has.
_ONLY_CEPH = ("db", "release", "rocksdb_optimized", "recovers", "scrubs")
#: What two hardware threads of a core do together, of what one does alone. At 1 a cluster that its processors limit
#: does a quarter less.
_SECOND_THREAD = 1.3
#: Of a drive whose sheet gives none: about 2 % a year fail.
_USUAL_MTTF_HOURS = 434_000.0
#: Share of what drives can do that mClock reserves for recovery in its profile "balanced", and in the other two.
RECOVERY_SHARES = {"balanced": 0.5, "high_client_ops": 0.4, "high_recovery_ops": 0.7}


#: Share of an OSD's bandwidth that mClock lets scrubs have at most, by its profile (its configuration reference).
SCRUB_SHARES = {"balanced": 0.9, "high_client_ops": 0.7, "high_recovery_ops": 1.0}
#: What mClock takes that bandwidth to be at most, of flash and of hard disks (`osd_mclock_max_sequential_bandwidth_ssd`
#: and `_hdd`).
_MCLOCK_BYTES_PER_S = (1200 << 20, 150 << 20)
#: Scrubs that an OSD takes part in at a time, since Squid and before (`osd_max_scrubs`).
_MAX_SCRUBS = (3, 1)
#: Hours within which all data is to be scrubbed deeply (`osd_deep_scrub_interval`).
SCRUB_HOURS = 168


class ClusterPool(System):
    """A pool of volumes on several nodes: copies or erasure-coded fragments on their drives, by Ceph or the like.

    To a host it is one volume. Each request goes over the network to the daemon (OSD) of the drive that is primary for
    its placement group, which reads, or has all other drives of the group write before it answers.

    Attributes
    ----------
    software : "ceph", "vitastor", "drbd" or "ideal"
        What keeps the copies, with its costs (`SOFTWARE`); "ideal" takes no time of its own.
    nodes, drives : int
        Nodes, and the drives for data of each.
    drive : Hdd, Flash, Virtual or CloudVolume
        Inline, or in a file by its name.
    osds_per_drive : int
    replicas : int or None
        Copies of a replicated pool; 3 unless given, of DRBD 2.
    data, parity : int or None
        k and m of an erasure-coded pool.
    stripe_unit_bytes : int
        What a fragment of an erasure-coded stripe has.
    failure_domain : "host" or "osd"
        What no two copies or fragments share.
    db : Flash or None
        Drive that RocksDB and its log are on; None: the drive of the data.
    db_drives : int
        Such drives in each node.
    cores : int or None
        Cores of a node. With their second hardware threads they do a third more. None: half as many as Ceph's
        documentation recommends hardware threads for its OSDs, at least 4.
    power_saving : bool
        Whether idle processors sleep, as they do where nobody turned it off (TuneD's `network-latency`, or
        `cpupower idle-set -D 0`): every thread that a request meets has to wake up.
    clients : int or None
        Connections that share the load, each of a virtual machine or an image. None: one for each node, of DRBD one.
    network_bytes_per_s : float
        Of each node and client.
    round_trip_ns : int or None
        Of a small message and its answer between two programs. None: what is usual at that rate.
    placement_groups : int or None
        None: 100 for each OSD, as a power of two.
    nearfull_ratio : float
        Up to where the pool is to be filled (`mon_osd_nearfull_ratio`); 0.95 of Vitastor, 1 of others.
    failed_nodes : int
        Nodes that are missing; clients wait for the copies that are left.
    recovers : bool
        Whether what they had is being copied beside the load.
    recovery : "balanced", "high_client_ops" or "high_recovery_ops"
        mClock's profile, which decides what share of a drive recovery may use.
    scrubs : bool
        Whether deep scrubs read all data beside the load, as many at a time as an OSD allows.
    release : str or None
        Of Ceph, "luminous" to "tentacle": clients before Pacific and daemons before Octopus are slower. None: it is
        taken to be Pacific or later.
    rocksdb_optimized : bool or None
        Whether RocksDB was built with optimization; packages for Ubuntu and Debian from ceph.com before 2024 were not.
        None: it is taken to be.
    slow_osd : float
        How many times as long all accesses of one drive for data take, of an OSD that is worn or failing.
    costs : Costs
    slowness : tuple of 2 float
        Logarithms of the factors by which all times are longer: of reads with network and messages, and of what only
        writes have. Draws of what is not known set them.
    """

    members: ClassVar[tuple[str, ...]] = ("drive", "db")
    part: ClassVar[str] = "node"
    slower_than_rated: ClassVar[str] = "a request waits for the network, for daemons and for copies in other nodes"
    unknowns_called: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"flash times": "network, daemons and drives", "latency of writes": "copies and commits"}
    )
    troubles: ClassVar[tuple[Trouble, ...]] = TROUBLES
    own_effort: ClassVar[OwnEffort | None] = OwnEffort(350e-6, 64_000)
    planned_by: ClassVar[str] = "diskmodel.plan.clusters.asked:asked"

    kind: Literal["cluster"] = "cluster"
    software: SoftwareName = "ceph"
    nodes: Annotated[int, Field(ge=1, le=500)]
    drives: Annotated[int, Field(ge=1, le=100)] = 1
    drive: Member
    osds_per_drive: Annotated[int, Field(ge=1, le=16)] = 1
    replicas: Annotated[int, Field(ge=1, le=10)] | None = None
    data: Annotated[int, Field(ge=1, le=32)] | None = None
    parity: Annotated[int, Field(ge=1, le=16)] | None = None
    stripe_unit_bytes: Annotated[Length, Field(ge=4096)] = 4096
    failure_domain: Literal["host", "osd"] = "host"
    db: Flash | None = None
    db_drives: Annotated[int, Field(ge=1, le=100)] = 1
    cores: Annotated[int, Field(ge=1, le=4096)] | None = None
    power_saving: bool = True
    clients: Annotated[int, Field(ge=1, le=100_000)] | None = None
    network_bytes_per_s: BytesPerSecond = 1.25e9
    round_trip_ns: Nanoseconds | None = None
    placement_groups: Annotated[int, Field(ge=1, le=MAX_PGS)] | None = None
    nearfull_ratio: Annotated[Ratio, Field(gt=0)] = 0.85
    failed_nodes: Annotated[int, Field(ge=0)] = 0
    recovers: bool = False
    recovery: Literal["balanced", "high_client_ops", "high_recovery_ops"] = "balanced"
    scrubs: bool = False
    release: Release | None = None
    rocksdb_optimized: bool | None = None
    slow_osd: Annotated[float, Field(ge=1, le=1e4)] = 1.0
    costs: Costs = Costs()

    @model_validator(mode="before")
    @classmethod
    def _named_and_sized(cls, data: Any) -> Any:
        """Give the pool its name and its capacity, which follow from the rest."""
        if not isinstance(data, Mapping) or not isinstance(data.get("drive"), Profile | Mapping):
            return data
        return {"name": "Ceph pool", **sizes_to_be(data), **data}

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._refuse_of_other_software()
        own, given = self.program, self.costs.model_fields_set
        if self.software != "ceph":
            costs = own.costs.model_copy(update={name: getattr(self.costs, name) for name in given})
            object.__setattr__(self, "costs", Costs.model_validate(costs.model_dump()))
        if "nearfull_ratio" not in self.model_fields_set:
            object.__setattr__(self, "nearfull_ratio", own.filled_ratio)
        if (self.data is None) != (self.parity is None):
            raise ValueError("data and parity: k and m must be given together; add the other one")
        if self.data is not None and self.replicas is not None:
            raise ValueError("replicas: a pool has copies or is erasure-coded; remove replicas, or data and parity")
        left = self.nodes - self.failed_nodes
        width, places = self.width, self.nodes if self.failure_domain == "host" else self.n_osds
        if width > places:
            what = "nodes" if self.failure_domain == "host" else "OSDs"
            fix = f"use {width} {what} or more" + (
                ', or failure_domain = "osd"' if what == "nodes" and width <= self.n_osds else ""
            )
            raise ValueError(
                f"nodes={self.nodes}: copies or fragments go to {width} {what}, and there are {places}; {fix}"
            )
        if self.failed_nodes and (self.failed_nodes > self.survives or left < 1):
            raise ValueError(
                f"failed_nodes={self.failed_nodes}: the pool serves requests with {self.survives} fewer at most "
                "(min_size); lower it"
            )
        if self.failed_nodes and self.failure_domain != "host":
            raise ValueError('failed_nodes: loses data where failure_domain is not "host"; use "host"')
        if self.recovers and self.failed_nodes and left < width:
            raise ValueError("recovers: no node is left to copy to; set recovers = false")
        if self.scrubs and self.recovers:
            raise ValueError(
                "scrubs: none begin while data is being recovered (osd_scrub_during_recovery); set scrubs = false"
            )
        if self.recovers and not self.failed_nodes:
            raise ValueError("recovers: nothing has failed; set failed_nodes = 1")
        capacity = int(self.drive.capacity_bytes * self.n_drives * self.efficiency * self.nearfull_ratio)
        object.__setattr__(self, "capacity_bytes", capacity // self.sector_bytes * self.sector_bytes)
        object.__setattr__(self, "mttf_hours", self._loss_hours)
        if self.name == "Ceph pool":
            object.__setattr__(self, "name", f"{own.title} on {self.n_drives} {self.drive.name}, {self.scheme}")
        return self

    def _refuse_of_other_software(self) -> None:
        """Refuse what only Ceph has."""
        if self.software == "ceph":
            return
        for name in _ONLY_CEPH:
            if getattr(self, name) not in (None, False):
                raise ValueError(f"{name}: is modeled of Ceph alone; remove it")
        if self.data is not None and not self.program.may_be_coded:
            raise ValueError(
                f"data: erasure codes of {self.program.title} are not modeled; remove data and parity, "
                'or ask what drives and network allow with software = "ideal"'
            )

    @classmethod
    def readers(cls) -> Mapping[str, Reader]:
        """Return which fields are read only beside others."""
        return {
            "db_drives": Reader("with db", lambda array: array.drive.db is not None),
            "cores": Reader("with daemons", lambda array: array.drive.software != "ideal"),
            "recovery": Reader(
                "with more nodes than copies, or scrubs",
                lambda array: array.drive.nodes > array.drive.width or array.drive.scrubs,
            ),
            "stripe_unit_bytes": Reader("erasure-coded pools", lambda array: array.drive.data is not None),
        }

    def unread(self, whole: Any, path: str = "") -> Iterator[tuple[str, str]]:
        """Yield its own fields that nothing reads: those of its drives are read where each stands alone."""
        readers = self.readers()
        for name in sorted(readers.keys() & self.model_fields_set):
            default = type(self).model_fields[name].get_default(call_default_factory=True)
            if getattr(self, name) != default and not readers[name].does(whole):
                yield path + name, readers[name].who

    @classmethod
    def of_words(cls, words: str, of_array: Callable[[str], Mapping[str, Any]]) -> dict[str, Any] | None:
        """Return the fields of the pool that words describe: "ceph 6 nodes, 2x samsung-pm983-1920 each"."""
        return cluster_of_words(words) if is_cluster(words) else None

    # ------------------------------------------------------------------ shape
    @property
    def program(self) -> Software:
        """What keeps the copies."""
        return SOFTWARE[self.software]

    @property
    def width(self) -> int:
        """Copies or fragments of a block."""
        return (self.replicas or self.program.replicas) if self.data is None else self.data + (self.parity or 0)

    @property
    def survives(self) -> int:
        """Copies or fragments that may be missing while the pool still serves requests (`min_size`)."""
        if self.data is None:
            return self.width // 2
        parity = self.parity or 1
        return parity - min(parity - 1, 1)

    @property
    def scheme(self) -> str:
        """How it keeps data: "replica 3" or "ec 4+2"."""
        return f"replica {self.width}" if self.data is None else f"ec {self.data}+{self.parity}"

    @property
    def efficiency(self) -> float:
        """Share of the raw capacity that is data."""
        return 1 / self.width if self.data is None else self.data / self.width

    @property
    def n_drives(self) -> int:
        """Drives for data."""
        return self.nodes * self.drives

    @property
    def n_osds(self) -> int:
        """Daemons."""
        return self.n_drives * self.osds_per_drive

    @property
    def osds_per_node(self) -> int:
        """Daemons of a node."""
        return self.drives * self.osds_per_drive

    @property
    def n_cores(self) -> int:
        """Cores of a node."""
        if self.cores is not None:
            return self.cores
        return max(_LEAST_CORES, CORES_PER_OSD[self.drive.has_arms] * self.osds_per_node)

    @property
    def n_processors(self) -> int:
        """What its cores do with all their hardware threads, as processors that do as much as a core alone."""
        return max(round(_SECOND_THREAD * self.n_cores), 1)

    @property
    def n_clients(self) -> int:
        """Connections."""
        return self.clients or (1 if self.program.one_client else self.nodes)

    @property
    def n_workers(self) -> int:
        """Threads of an OSD for operations (`osd_op_num_shards`, `osd_op_num_threads_per_shard`)."""
        return self.costs.workers or (5 if self.drive.has_arms else 16)

    @property
    def trip_ns(self) -> int:
        """Time of a small message one way.

        A round trip is between two programs, and what these take of it is among the times of messages where all of
        these are known by what they take of processors.
        """
        one_way = self.own_round_trip_ns // 2
        return one_way if self.software == "ceph" else max(one_way - 2 * self.costs.message_ns, _LEAST_TRIP_NS)

    @property
    def own_round_trip_ns(self) -> int:
        """Time of a small message and its answer between two programs."""
        if self.round_trip_ns is not None:
            return self.round_trip_ns
        bits = 8 * self.network_bytes_per_s
        return next(ns for least, ns in ROUND_TRIPS_NS if bits >= least)

    @property
    def n_groups(self) -> int:
        """Placement groups."""
        if self.placement_groups is not None:
            return self.placement_groups
        wanted = self.n_osds * PGS_PER_OSD / self.width
        n = 1
        while n * 2 <= wanted * 1.5:
            n *= 2
        return min(n, MAX_PGS)

    @property
    def defers(self) -> bool:
        """Whether small writes go to RocksDB's log first (`bluestore_prefer_deferred_size`)."""
        return self.program.has_log and self.drive.has_arms

    @property
    def flushes(self) -> bool:
        """Whether a flush of the host goes to the drives: where no log has made each write safe before its answer."""
        return not self.program.has_log and (self.program.always_flushes or not self.is_safe_at_once)

    @property
    def is_safe_at_once(self) -> bool:
        """Whether the drive that commits answers flushes from memory that survives a power cut."""
        committing = self.db or self.drive
        return isinstance(committing, Flash) and committing.power_loss_protected

    # ------------------------------------------------------------------ recovery
    @property
    def recovery_bytes_per_s(self) -> float:
        """Rate at which the nodes that are left copy what a node had: by drives, by processors, by the network."""
        nodes = max(self.nodes - max(self.failed_nodes, 1), 1)
        share = RECOVERY_SHARES[self.recovery]
        # of each byte: a read (of k fragments where they are coded) and a write
        works = 2.0 if self.data is None else 1.0 + self.data
        per_osd = min(self.drive.sequential_bytes_per_s / self.osds_per_drive, self.costs.payload_bytes_per_s)
        by_drives = nodes * self.osds_per_node * per_osd * share / works
        by_network = nodes * self.network_bytes_per_s * share / (works / 2)
        return min(by_drives, by_network)

    @property
    def scrubs_at_once(self) -> int:
        """Scrubs that an OSD takes part in at a time."""
        return _MAX_SCRUBS[self.release is not None and is_before(self.release, "squid")]

    @property
    def scrub_bytes_per_s(self) -> float:
        """Rate at which mClock lets an OSD read for scrubs."""
        of_drive = self.drive.sequential_bytes_per_s / self.osds_per_drive
        return SCRUB_SHARES[self.recovery] * min(of_drive, _MCLOCK_BYTES_PER_S[self.drive.has_arms])

    @property
    def recovery_hours(self) -> float:
        """Hours until what a node of a pool filled to `nearfull_ratio` had has been copied."""
        held = self.drives * self.drive.capacity_bytes * self.nearfull_ratio
        return held / self.recovery_bytes_per_s / 3600

    @property
    def _loss_hours(self) -> float:
        """Mean time until drives fail that hold all copies of a placement group, without failures of whole nodes.

        As many drives as hold copies have to fail within the hours that the others take to copy one; how many sets of
        them share a placement group decides (A. Cidon et al., *Copysets*, USENIX ATC 2013).
        """
        fail = 1 / (self.drive.mttf_hours or _USUAL_MTTF_HOURS)
        nodes = self.nodes - self.failed_nodes
        one_hours = max(self.recovery_hours / self.drives, 1e-3)
        lost = self.width - (self.data or 1) + 1 - self.failed_nodes
        n = max(nodes * self.drives, lost)
        sets = math.comb(n, lost)
        shared = min(self.n_groups * math.comb(self.width - self.failed_nodes, lost) / sets, 1.0)
        # the first failure, and each further one while the first is being copied
        chain = n * fail
        for more in range(1, lost):
            chain *= min((n - more) * fail * one_hours, 1.0)
        return min(1 / (chain * shared), 1e15) if chain * shared > 0 else 1e15

    # ------------------------------------------------------------------ the card
    @property
    def speed_class(self) -> str:
        """Its kind."""
        return self.kind

    @property
    def rated_iops(self) -> float:
        """Reads of 4 KiB at which the first of its stations is busy."""
        costs = self.own_costs
        # what each takes, of which there are so many
        stations = (
            (0 if self.program.is_local else 2 * costs.message_ns, self.n_osds * costs.messengers),
            (costs.read_processor_ns, self.nodes * self.n_processors),
            (costs.stack_ns, self.nodes),
            (costs.client_read_ns, self.n_clients),
        )
        rates = [n * NS_PER_S / takes_ns for takes_ns, n in stations if takes_ns]
        if self.drive.rated_iops > 0:
            rates.append(self.n_drives * self.drive.rated_iops)
        return min(rates, default=NS_PER_S / self.own_round_trip_ns)

    @property
    def sequential_bytes_per_s(self) -> float:
        """Rate of one client's long reads."""
        return min(self.costs.client_bytes_per_s, self.network_bytes_per_s)

    @property
    def own_costs(self) -> Costs:
        """Times of its daemons and clients, as these were released and built."""
        costs = self.costs if self.release is None else self.costs.of_release(self.release)
        return costs.unoptimized() if self.rocksdb_optimized is False else costs

    def other_programs(self) -> Mapping[str, OtherPrograms]:
        """Return the pool with a release, and with a build, that it may also have."""
        found: dict[str, OtherPrograms] = {}
        if self.software != "ceph":
            return found
        if self.release is None:
            other = self.model_copy(update={"release": "nautilus"})
            found["release"] = OtherPrograms(other, "Ceph's release is Pacific or later", '"nautilus", or its own name')
        if self.rocksdb_optimized is None:
            other = self.model_copy(update={"rocksdb_optimized": False})
            said = '"unoptimized" (ceph.com\'s packages for Ubuntu and Debian before 2024)'
            found["build"] = OtherPrograms(other, "Ceph's RocksDB was built with optimization", said)
        return found

    def broken(self) -> Self | None:
        """Return the pool with a node failed; None where it serves no requests then, or one has failed already."""
        if self.failed_nodes or not self.survives or self.failure_domain != "host":
            return None
        return self.model_copy(update={"failed_nodes": 1, "recovers": self.can_recover})

    @property
    def can_recover(self) -> bool:
        """Whether what a failed node had can be copied beside the load."""
        return self.nodes > self.width and self.software == "ceph"

    @property
    def doubt(self) -> str:
        """Which clusters its processors' times are of."""
        return self.program.doubt

    @property
    def quantities(self) -> frozenset[str]:
        """What `slowness` is about, and what its daemons take of their processors."""
        return super().quantities | {"processors"}

    def perturbed(self, perturbation: DrivePerturbation) -> Self:
        """Return a pool whose parts are slower or faster, and whose daemons take more or less of their processors."""
        pool = super().perturbed(perturbation)
        if not perturbation.overhead:
            return pool
        return pool.model_copy(update={"costs": pool.costs.busier(perturbation.overhead)})

    @property
    def spread_class(self) -> str:
        """Clusters that somebody tuned, and others; those whose drives take long for a flush."""
        tuned = "" if self.power_saving else "-tuned"
        return f"cluster{tuned}" if self.is_safe_at_once else f"cluster{tuned}-flushing"

    def derived(self) -> dict[str, float]:
        """Return what follows from the description."""
        return {"recovery_hours": self.recovery_hours, "raw_bytes": float(self.n_drives * self.drive.capacity_bytes)}

    def facts(self) -> list[tuple[str, str]]:
        """Return what it is made of."""
        found = [
            ("drives", f"{self.nodes} nodes, {self.drives} × {self.drive.name} each, {self.scheme}"),
            ("nodes", f"{self.n_cores} cores, {8 * self.network_bytes_per_s / 1e9:g} Gbit/s, "
             f"{self.own_round_trip_ns / 1e3:g} us a round trip"),
            ("clients", f"{self.n_clients}"),
            ("idle processors", "sleep" if self.power_saving else "do not sleep"),
            ("placement groups", f"{self.n_groups}"),
            *([("release", self.release)] if self.release else []),
        ]  # fmt: skip
        if self.db is not None:
            found.append(("RocksDB", f"{self.db_drives} × {self.db.name} in each node"))
        if self.failed_nodes:
            state = "being copied" if self.recovers else "not being copied"
            found.append(("failed nodes", f"{self.failed_nodes}, what they had is {state}"))
        if self.slow_osd > 1:
            found.append(("slow OSD", f"the drive of one is {self.slow_osd:g} times slower"))
        if self.scrubs:
            most = f"{self.scrub_bytes_per_s / 1e6:.0f} MB/s at most"
            found.append(("deep scrubs", f"{self.scrubs_at_once} at a time for each OSD, {most}"))
        if self.can_recover:
            found.append(("recovery", f"{in_hours_or_days(self.recovery_hours)} until a failed node's data are copied"))
        return found

    def tables(self) -> ClusterTables:
        """Return the tables for the engine."""
        return ClusterTables(
            sector_bytes=self.sector_bytes,
            n_sectors=self.n_sectors,
            queue_depth=self.accepted_commands,
            pool=self,
        )
