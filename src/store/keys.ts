/** The hash tag of a shard is in each of its keys, so that scripts find all that they touch on one node of a Redis Cluster. */
export function tagOf(shard: number): string {
  return `{wb${shard}}`
}

/** The tag of the home shard, which has everything that does not grow with the traffic. */
const TAG = tagOf(0)

/**
 * The keys of each shard, with the data of its devices: lanes, held fixes, duplicate marks, records, days and kept frames. A
 * lane's name is `<company>/<courier>/<route>`.
 */
export interface ShardKeys extends ReturnType<typeof shardKeys> {}

export function shardKeys(tag: string) {
  return {
    /** zset: every lane with records; lua/lease.lua defines its score */
    schedule: `${tag}:schedule`,
    /** hash: received, delivered, filtered:<reason> … */
    custody: `${tag}:custody`,
    /** hash: lanes that are parked whole → JSON: status, message, tries, at, since */
    parked: `${tag}:parked`,
    /** zset: lanes that have refused records, by since when */
    refusedLanes: `${tag}:refused`,
    /** set: lanes whose push failed since the last answer of the usual API; for another API, its id is appended (`keyOf`) */
    failing: `${tag}:failing`,
    /**
     * zset: lanes set aside because their API, if there are several, takes none now; score: since when they are due, ms UTC.
     * Named like `failing`
     */
    aside: `${tag}:aside`,
    /** string: the gateway that stored last, and since when no other has: its turn (see duplicates.ts) */
    storing: `${tag}:storing`,
    /** hash: lane that is or was behind → whether its first record is its newest, moved there, and when that was received */
    ahead: `${tag}:ahead`,
    /** hash: `beat`: the clock of Redis at the last sign of a worker, or when something was scheduled, ms UTC; `look_at_leases`: see lua/beat.lua */
    clock: `${tag}:clock`,
    /** zset: worker processes, scored by when they were last heard of, ms UTC */
    workers: `${tag}:workers`,
    /** hash: state of an API (up, down, limited), since, next probe (ms UTC), its lane (prober), failures in a row. As `failing` */
    upstream: `${tag}:upstream`,
    /** BullMQ's prefix; its list of tickets that no worker has taken yet */
    tickets: tag,
    waitingTickets: `${tag}:tickets:wait`,
    /** hash: device → its latest span of 2,048 s in which anything was stored */
    latestSpans: `${tag}:latest`,
    /** string `marks:<device>:<span>`: marks of the fixes of a device that were stored recently (see duplicates.ts) */
    marksPrefix: `${tag}:marks:`,
    /** zset: the strings of marks by when they are deleted, ms UTC; hash: device → bytes of its marks, '' → of all */
    markExpiries: `${tag}:mark-expiries`,
    markBytes: `${tag}:mark-bytes`,
    /** hash: key (of the marks) */
    secret: `${tag}:secret`,
    /** zset: devices with held records; score: when these are looked at again, ms UTC. `name`: of the lists (`HeldLists`) */
    heldDevices: (name: string) => `${tag}:held:${name}`,
    heldPrefix: `${tag}:held:`,
    /** list: held records of a device, oldest first */
    held: (name: string, device: string) => `${tag}:held:${name}:${device}`,
    /** number of all held records */
    heldFixes: `${tag}:held-fixes`,
    /** zset: devices whose held fixes are being released, without leading zeros; score: see `mark_releasing` in lua/held.lua */
    releasing: `${tag}:releasing`,
    /** list: a lane's records, oldest first */
    lane: (lane: string) => `${tag}:lane:${lane}`,
    lanePrefix: `${tag}:lane:`,
    /** hash `<day since 1970>`, which expires: lane → `<ms>:<status>:<failures in a row>` of its last push on that day */
    pushesPrefix: `${tag}:pushes:`,
    /**
     * Fixes delivered recently (see kept-fixes.ts). `<hour since 1970>:<device>`: list of chunks; `<hour>`: set of the
     * devices that have one; all expire
     */
    keptPrefix: `${tag}:kept:`,
    /** hash: hour → kept fixes; `since`: how far back they reach, ms UTC; `trimmed`: how many were deleted for want of memory */
    keptHours: `${tag}:kept-hours`,
    /** hash: unfinished corrections, JSON each (see corrections.ts); string that expires: the worker whose turn it is */
    corrections: `${tag}:corrections`,
    correcting: `${tag}:correcting`,
    /** list: what the service refused of a lane, an entry an answer */
    refused: (lane: string) => `${tag}:refused:${lane}`,
    /** hash: device → its record (see device-record.ts) */
    devices: `${tag}:devices`,
    /** list `<device>`, which expires: what happened to a device, JSON each, oldest first */
    eventsPrefix: `${tag}:events:`,
    /** stream: devices with news, JSON lists; the last 300 */
    heardChanges: `${tag}:heard-changes`,
    /** string: identifies the data that an index of devices was read from */
    heardMark: `${tag}:heard-mark`,
    /** number: the version of the roster in the home shard; in other shards, the version that a gateway has told them */
    rosterVersion: `${tag}:roster:version`,
    /** string that expires: notes on a device for a local day, by its begin (ms UTC); device '': the gateways (see days.ts) */
    day: (day: number, device: string) => `${tag}:day:${day / 60_000}:${device}`,
    /** hash that expires: device → its data volume on a local day, by its begin, ms UTC (see air.ts) */
    air: (day: number) => `${tag}:air:${day / 60_000}`,
    /** hash that expires: lane → its deliveries of a local day, by its begin, ms UTC (see lane-days.ts) */
    laneDays: (day: number) => `${tag}:lane-days:${day / 60_000}`,
    /**
     * frames that were not understood (see kept-frames.ts). Hashes `frames`: id → JSON, `sizes`: list or `<list>:<device>` →
     * bytes; zset `due`: device → when its frames are decoded again, ms UTC; zsets `<list>`, `<list>:<device>`: ids
     */
    misunderstood: (part: string) => `${tag}:misunderstood:${part}`,
    /** list `<log>`: what copies get, an entry for each call that stored fixes (see copied.ts) */
    copiedPrefix: `${tag}:copied:`,
    /** hashes: log → entries, and fixes, that were ever written to it */
    copiedEntries: `${tag}:copied-entries`,
    copiedFixes: `${tag}:copied-fixes`,
    /** hash: log → how often fixes were deleted from it, which makes earlier reads of it outdated */
    copiedForgotten: `${tag}:copied-forgotten`,
    /** hash `<log>`: copy → entry that it gets next, number of its first fix, number of the first fix that it ever got, ms UTC, maybe its last entry */
    cursorsPrefix: `${tag}:copy-cursors:`,
    /** hash: `<copy> delivered`, `<copy> discarded`; `<copy> left`: fixes of logs that it gets no more; `<copy> retry`: parked fixes to try again */
    copyCounts: `${tag}:copy-counts`,
    /** list: what the receiver of a copy refused, a fix each */
    copyParked: (copy: string) => `${tag}:copy-parked:${copy}`,
    /** string that expires: the worker that sends a copy */
    copying: (copy: string) => `${tag}:copying:${copy}`,
  }
}

/** The keys in Redis: of the home shard. Those of another shard are its `keyNames` (shards.ts). */
export const keys = {
  ...shardKeys(TAG),
  /** number: how many shards the data have; missing: one */
  shards: `${TAG}:device-shards`,
  /** number: of the data, see format.ts */
  format: `${TAG}:format`,
  /** string that expires when the enrolment window ends (src/gateway/enrolment.ts) */
  enrolment: `${TAG}:enrolment`,
  /** hash: name → JSON of a mapping that was saved through the admin port (see mappings.ts) */
  mappings: `${TAG}:mappings`,
  /** set: gateway processes that were alive recently; `gateway` tells whether one still is */
  gatewayIds: `${TAG}:gateway-ids`,
  /** pub/sub channel: messages between gateways about devices (see gateway/admit/neighbours.ts) */
  gatewayChannel: `${TAG}:gateway-channel`,
  /** hashes of the version before this one, which had no records: DeviceIndex deletes them */
  beforeRecords: [`${TAG}:last-fixes`, `${TAG}:last-filtered`, `${TAG}:intervals`],
  /** string that expires: the clock of the tracking API, JSON */
  apiClock: `${TAG}:api-clock`,
  /** hash that expires: lane → comparisons with the tracking API on a local day, by its begin (see verified.ts) */
  verifiedDay: (day: number) => `${TAG}:verified:${day / 60_000}`,
  /** hash that expires: lane → the same for each window of an hour */
  verifiedHour: (hour: number) => `${TAG}:verified-hour:${hour}`,
  /** hash: lane and window → JSON of what the tracking API took and does not have */
  missingAtApi: `${TAG}:missing-at-api`,
  /** hash: company → since when it is read back from its API, ms UTC, a space, and the URL of that API */
  verifiedApis: `${TAG}:verified-apis`,
  /** string that expires: id of the admin process that runs verification */
  verifying: `${TAG}:verifying`,
  /** list: findings that ended, JSON each, latest first; the last 1,000 */
  endedFindings: `${TAG}:ended-findings`,
  /** hash: finding → JSON of what a receiver of alerts was told about it */
  alerted: (receiver: string) => `${TAG}:alerted:${receiver}`,
  /** set: ids of the processes that give signs, which are in `process` */
  processIds: `${TAG}:process-ids`,
  /**
   * list: senders that were not understood, JSON each, without secrets, latest first; hash: device that is not configured → JSON
   * of its arrival
   */
  arrivals: `${TAG}:not-understood`,
  arrivedDevices: `${TAG}:arrived-devices`,
  /**
   * hashes that expire: numbers of frames that came through a trial; `<figure> <device>` → the figures of a device (see
   * trial.ts)
   */
  trial: `${TAG}:trial`,
  triedDevices: `${TAG}:tried-devices`,
  /** string that expires: which vans fell silent together, JSON (see diagnose/traffic.ts) */
  traffic: `${TAG}:traffic`,
  /** stream: changes asked for through the admin port, JSON each; the last 10,000 */
  audit: `${TAG}:audit`,
  /** stream: reads of positions, JSON each; the last 50,000; zset: hashes of recent ones, by time, ms UTC (see lua/reads.lua) */
  reads: `${TAG}:reads`,
  readsNoted: `${TAG}:reads-noted`,
  /**
   * string that expires: JSON of a person signed in to the page, by the hash of the cookie; string that expires: a process
   * renews it; zset: these hashes, by time of sign-in, ms UTC (see sign-ins.ts)
   */
  signIn: (hash: string) => `${TAG}:sign-in:${hash}`,
  signInRenewal: (hash: string) => `${TAG}:sign-in-renewal:${hash}`,
  signIns: `${TAG}:sign-ins`,
  /**
   * string `version`: of the last write to the roster, ms UTC; hashes `device-table`, `assignment-table`,
   * `file-versions`, stream `log`: see src/roster/table.ts; hashes `results`, `replaced`: see src/roster/puts.ts, `offers`: see src/roster/offers.ts; hash
   * `former`: see lua/roster.lua; hash `applied`: gateway process → the version that is in effect there; channel of
   * pub/sub `written`: after each write
   */
  roster: (part: string) => `${TAG}:roster:${part}`,
  /** string: of version 0.1.0 alone, when its roster was written last */
  firstRoster: `${TAG}:roster:at`,
  /** string that expires: sign of life of a gateway process; JSON of why it acknowledges nothing, a sentence each */
  gateway: (id: string) => `${TAG}:gateway:${id}`,
  /** string that expires: sign of life of a process, with its figures as JSON (src/store/processes.ts) */
  process: (id: string) => `${TAG}:process:${id}`,
  /** zset: devices whose frames are kept for the view, by the end of that, ms UTC */
  watched: `${TAG}:watched`,
  /** list that expires: the last frames of such a device, JSON each, latest first */
  watchedFrames: (device: string) => `${TAG}:watched:${device}`,
}

/** A lane whose oldest record waits longer is behind: its newest record is pushed first. */
export const BEHIND_MS = 60_000
