import type { Template } from '../texts/text.ts'

/** The links that a position passes, in their order. */
export const LINKS = ['connected', 'understood', 'identified', 'placed', 'stored', 'pushed', 'accepted'] as const
export type Link = (typeof LINKS)[number]
export type Severity = 'info' | 'warning' | 'error'
/** Errors first. */
export const SEVERITY_ORDER = { error: 0, warning: 1, info: 2 } satisfies Record<Severity, number>

/** The meaning of a code; src/diagnose/README.md has a paragraph for each. */
export interface Meaning {
  readonly severity: Severity
  readonly link: Link
  /** `{}`: the device, listener or process that the finding is about. */
  readonly message: Template
  readonly action: Template
}

export const CODES = {
  clock_ahead: {
    severity: 'warning',
    link: 'placed',
    message: 'the fixes of {} are ahead of our clock: they are not delivered',
    action:
      'set time_zone for the device in devices.yaml if it reports local time; otherwise set the clock of the device',
  },
  own_clock: {
    severity: 'error',
    link: 'placed',
    message: 'the clock of a gateway is in doubt: fixes that seem too new or too old are held',
    action: 'set the clock of the machine and keep it synchronised (NTP)',
  },
  held_full: {
    severity: 'error',
    link: 'placed',
    message: 'so many fixes of {} are held that the oldest are discarded',
    action: 'see in `why` what holds its fixes: give it a route, correct its clock, or deliver them: waybridge release',
  },
  held_too_long: {
    severity: 'error',
    link: 'placed',
    message: 'fixes of {} were held for as long as hold.max_age, and are discarded',
    action: 'see in `why` what holds its fixes: give it a route, correct its clock, or deliver them: waybridge release',
  },
  unknown_refused: {
    severity: 'warning',
    link: 'identified',
    message: 'fixes of devices that are not configured are refused: what may be held of such devices is used up',
    action: 'add the devices that are yours to devices.yaml, or set hold.unknown: false',
  },
  marks_full: {
    severity: 'warning',
    link: 'stored',
    message: 'the marks that recognise duplicates of {} have reached their limit: duplicates may be pushed',
    action: 'find out who sends so many different times for the device; give it a secret',
  },
  parked_full: {
    severity: 'error',
    link: 'accepted',
    message: 'too many positions are parked: devices on lanes with parked positions are not acknowledged',
    action: 'correct what the tracking API refuses and retry, or delete the parked positions',
  },
  redis_full: {
    severity: 'error',
    link: 'stored',
    message: 'the memory of Redis is used up to its stop mark: nothing is acknowledged',
    action:
      'find out why the tracking API does not take what waits, or raise redis.max_memory, or maxmemory of a Redis of your own',
  },
  not_stored: {
    severity: 'error',
    link: 'stored',
    message: 'frames are not acknowledged because they cannot be stored',
    action:
      'by the reason in the evidence, for redis or roster: see that Redis runs and its disk is quick; for memory or parked: let what waits be delivered, or retry what was refused; for misunderstood or fault: see the log of the gateway',
  },
  not_understood: {
    severity: 'warning',
    link: 'understood',
    message: '{} sends positions that are not understood: the frames are kept as they came',
    action:
      'they are decoded again after an upgrade, or when the entry of the device changes: check its model, settings and protocol, and report the frames in the evidence',
  },
  slow_script: {
    severity: 'warning',
    link: 'stored',
    message: 'calls to Redis are slow',
    action: 'check the disk and the load of the machine that Redis runs on',
  },
  event_loop_delay: {
    severity: 'warning',
    link: 'connected',
    message: '{} reacts late: its event loop is delayed',
    action: 'check the load of the machine; if a sender causes it, the other findings name it',
  },
  flood: {
    severity: 'warning',
    link: 'connected',
    message: 'senders take more than their share: the rest is read later, or dropped',
    action: 'block the networks in the evidence in your firewall if they are not yours',
  },
  guesses_refused: {
    severity: 'warning',
    link: 'understood',
    message: 'so much comes that nobody understands that new senders are found out late, or not at all',
    action:
      'block the senders in the evidence in your firewall if they are not yours; give your devices the port of their protocol',
  },
  connections_full: {
    severity: 'error',
    link: 'connected',
    message: 'the limit of open connections is reached: new ones are refused, or replace those without an identity',
    action: 'block the networks in the evidence if they are not yours, or raise limits.max_connections',
  },
  device_connections: {
    severity: 'warning',
    link: 'connected',
    message:
      'more connections than limits.max_connections_per_device use the id of {}: one of the network with most of them is closed, first one without a fix',
    action: 'find out who else uses the id of the device; give it a secret or networks',
  },
  one_address: {
    severity: 'warning',
    link: 'connected',
    message: 'all connections to {} come from one address: limits by address apply to all together',
    action: 'if a load balancer is in front, set proxy_protocol: true and trusted_proxies',
  },
  open_files: {
    severity: 'warning',
    link: 'connected',
    message: 'nearly all connections are taken that the limit of open files allows',
    action: 'raise the limit of open files (ulimit -n, or LimitNOFILE in the systemd unit)',
  },
  guessing: {
    severity: 'warning',
    link: 'identified',
    message:
      'somebody guesses the secret of {}: until it presents the right one, those from that network wait longer and longer',
    action:
      'block the networks in the evidence in your firewall; if it is the device itself, set the same secret in it and in devices.yaml',
  },
  wrong_secret: {
    severity: 'warning',
    link: 'identified',
    message: '{} presents a wrong secret, or none, and is treated like a device that is not configured',
    action: 'set the same secret in the device and in its entry (devices.yaml)',
  },
  not_permitted: {
    severity: 'warning',
    link: 'identified',
    message: '{} came in a way that devices.yaml does not allow, and is treated like a device that is not configured',
    action:
      'see the evidence; correct protocol, transports, networks or client_certificate of the device if it is yours',
  },
  claimed_twice: {
    severity: 'warning',
    link: 'identified',
    message: 'two senders use the id of {}, or its address over UDP',
    action: 'find out which sender is the real one; give the device a secret, networks or a client certificate',
  },
  impossible_move: {
    severity: 'warning',
    link: 'identified',
    message: '{} moved faster than a vehicle can',
    action: 'compare the positions in the evidence; if they are not its own, give the device a secret',
  },
  certificate_expires: {
    severity: 'warning',
    link: 'connected',
    message: 'the certificate of {} ends soon, or has ended',
    action: 'renew the certificate; the new files are used without a restart',
  },
  certificate_refused: {
    severity: 'error',
    link: 'connected',
    message: 'the new certificate files of {} cannot be used: the earlier ones stay in effect',
    action: 'correct the files named in the evidence',
  },
  config_refused: {
    severity: 'error',
    link: 'placed',
    message: '{} is refused: what was in effect before it stays in effect',
    action:
      'correct the file as the evidence says; where it would take routes and that is meant, write the lines with `waybridge routes put FILE --force`, or delete the devices through the admin port',
  },
  restart_needed: {
    severity: 'warning',
    link: 'connected',
    message: 'settings of {} take effect at the next start only',
    action: 'start waybridge again; meanwhile trackers keep what is not acknowledged',
  },
  enrolment_open: {
    severity: 'info',
    link: 'identified',
    message: 'the enrolment window is open: devices that are not configured are admitted',
    action: 'nothing to do: it closes by itself',
  },
  wrong_port: {
    severity: 'info',
    link: 'understood',
    message: '{} sends to the port of another protocol; its fixes are taken all the same',
    action: 'set the port that the evidence names in the device',
  },
  port_taken: {
    severity: 'warning',
    link: 'connected',
    message: 'the default port of {} is taken: no tracker can connect to it',
    action: 'end the program that has the port, or list the ports that you need in listeners (gateway.yaml)',
  },
  bridge_down: {
    severity: 'error',
    link: 'connected',
    message: '{} does not get what devices publish at its broker',
    action: 'see the evidence: start the broker, or correct the entry of the bridge in mqtt.bridges (gateway.yaml)',
  },
  trial_unreachable: {
    severity: 'error',
    link: 'connected',
    message: 'the old server behind the trial on {} cannot be reached: trackers that it answers get nothing',
    action:
      'start the old server, or correct host and port of the trial in gateway.yaml; without trial we answer ourselves',
  },
  redis_down: {
    severity: 'error',
    link: 'stored',
    message: 'Redis does not answer: nothing is stored and nothing acknowledged',
    action:
      'see the evidence and the log of Redis: start it again, free its disk, or correct redis in gateway.yaml; trackers keep what is not acknowledged',
  },
  replicas_missing: {
    severity: 'error',
    link: 'stored',
    message: 'replicas of Redis are missing: nothing is acknowledged',
    action: 'start the missing replica, or take a lost one out of redis.replicas and min-replicas-to-write',
  },
  redis_unsafe: {
    severity: 'error',
    link: 'stored',
    message: 'Redis does not keep what it acknowledges: a crash would lose fixes',
    action: 'see the evidence: correct these settings in redis.conf of each server, or redis in gateway.yaml',
  },
  redis_unlimited: {
    severity: 'warning',
    link: 'stored',
    message: 'Redis has no maxmemory: it may be killed before redis.stop_at is reached',
    action: 'set maxmemory in redis.conf of each server, to at most half of the memory that it may use',
  },
  disk_full: {
    severity: 'error',
    link: 'stored',
    message: 'the disk of Redis is full, or nearly: soon nothing can be acknowledged',
    action: 'free space on the disk that the evidence names, or enlarge it',
  },
  no_gateway: {
    severity: 'error',
    link: 'connected',
    message: 'no gateway gives a sign of life: no tracker can send anything',
    action:
      'start a gateway, or end the one that is frozen (start runs another one); its log says why it does not start',
  },
  no_worker: {
    severity: 'error',
    link: 'pushed',
    message: 'no worker gives a sign of life: nothing is pushed',
    action:
      'start a worker, or end the one that is frozen (start runs another one); its log says why it does not start',
  },
  worker_stuck: {
    severity: 'error',
    link: 'pushed',
    message: '{} gives no sign of life: its lanes go to other workers',
    action: 'continue or end the process; start runs another one in its place',
  },
  restarting: {
    severity: 'error',
    link: 'connected',
    message: '{} ends again and again, and is started anew',
    action: 'see its log for why it ends',
  },
  upstream_down: {
    severity: 'error',
    link: 'accepted',
    message: 'the tracking API is down',
    action: 'see the evidence; nothing is lost: everything waits and is delivered once the API answers again',
  },
  not_the_api: {
    severity: 'error',
    link: 'accepted',
    message: 'something else answers in place of the tracking API',
    action:
      'correct tracking.base_url (or push_url), or what is in between: a proxy, a firewall, a login page of the network; nothing is lost: everything waits and is delivered once the API itself answers',
  },
  upstream_hanging: {
    severity: 'error',
    link: 'accepted',
    message: 'the tracking API takes requests and does not answer them',
    action: 'tell who runs the tracking API; nothing is lost: everything waits and is delivered once it answers again',
  },
  lane_hanging: {
    severity: 'error',
    link: 'accepted',
    message: 'the tracking API does not answer a few lanes, and answers others',
    action:
      'tell who runs the tracking API which couriers and routes get no answer; nothing is lost: their positions wait and are delivered once it answers',
  },
  upstream_slow: {
    severity: 'warning',
    link: 'accepted',
    message: 'the tracking API answers slowly: positions arrive late',
    action: 'tell who runs the tracking API; a higher push.concurrency helps where each request is slow',
  },
  upstream_limited: {
    severity: 'warning',
    link: 'accepted',
    message: 'the tracking API limits our requests (429): positions arrive late',
    action:
      'set push.max_requests_per_s (of an API of a company: its tracking.max_requests_per_s) to what the API allows, or ask for a higher limit',
  },
  apikey_refused: {
    severity: 'error',
    link: 'accepted',
    message: 'the tracking API refuses an apikey',
    action: 'set the apikey of the company in gateway.yaml (companies): its parked lanes are tried again at once',
  },
  token_refused: {
    severity: 'error',
    link: 'accepted',
    message: 'the tracking API refuses an OAuth token: orders and numbers are not relayed',
    action: 'get a new oauth_token and set it in gateway.yaml (companies)',
  },
  lane_refused: {
    severity: 'error',
    link: 'accepted',
    message: 'the tracking API refuses lanes',
    action:
      'correct the courier or the route in the roster: the parked fixes go there at once; or correct them in the tracking API, then retry: waybridge parked retry',
  },
  positions_refused: {
    severity: 'warning',
    link: 'accepted',
    message: 'the tracking API refuses positions: they are parked',
    action: 'correct the cause that its answer names, then retry them: waybridge parked retry',
  },
  missing_at_api: {
    severity: 'error',
    link: 'accepted',
    message: 'the tracking API does not have positions that it took',
    action:
      'tell who runs the tracking API what the evidence names; push them once more: waybridge verify --repair, or verify.repair in gateway.yaml',
  },
  backlog: {
    severity: 'warning',
    link: 'pushed',
    message: 'positions wait for longer than a minute although the tracking API answers',
    action:
      'look at the queues (GET /admin/lanes): what a last push was answered is the cause of its lane; otherwise add workers, or raise push.concurrency',
  },
  push_full: {
    severity: 'warning',
    link: 'pushed',
    message: 'positions wait because concurrency allows no more requests at once',
    action:
      'raise push.concurrency (of an API of a company: its tracking.concurrency): it must be the seconds that one request takes, times the lanes to push in a second',
  },
  custody_difference: {
    severity: 'error',
    link: 'stored',
    message: 'received fixes and where they are do not add up',
    action: 'keep the data folder and report this: it is a fault of waybridge',
  },
  traffic_stopped: {
    severity: 'error',
    link: 'connected',
    message: 'many vans fell silent together',
    action:
      'check what is between the trackers and this server: its address and port forwarding, the firewall, the mobile network',
  },
  silent: {
    severity: 'warning',
    link: 'connected',
    message: 'nothing is heard of {}, on a route now',
    action:
      'check its power and its SIM card; if it sleeps between messages, say how long in its entry: settings: { interval: 1h }',
  },
  gps_old: {
    severity: 'warning',
    link: 'placed',
    message: 'no new position comes from {}, though messages arrive',
    action: 'check the GPS antenna and where it is; under a roof there are no satellites',
  },
  clock_behind: {
    severity: 'warning',
    link: 'placed',
    message: 'the times of {} are behind, always by the same',
    action:
      'if a time_zone fits, add it to its entry in devices.yaml, or have the device report UTC; if none fits, set the clock of the device',
  },
  no_route: {
    severity: 'warning',
    link: 'placed',
    message: 'there is no route for the fixes of {}',
    action: 'add a line to routes.csv, or assign a route: waybridge assign; held fixes of its time go there',
  },
  two_on_route: {
    severity: 'warning',
    link: 'placed',
    message: 'several vans send on one route: {}',
    action: 'end the assignment of the van that does not drive the route: the positions of all are pushed',
  },
  unknown_device: {
    severity: 'warning',
    link: 'identified',
    message: 'fixes are held of {}, which nobody has configured',
    action: 'if it is yours, name it under Arrivals or in devices.yaml: its held fixes are then delivered',
  },
  sos: {
    severity: 'error',
    link: 'connected',
    message: 'SOS from {}',
    action: 'call the driver; if nobody answers, send help to its last position',
  },
  power_cut: {
    severity: 'warning',
    link: 'connected',
    message: 'the power of {} was cut, says the tracker',
    action:
      'ask the driver, and look after it: somebody may have disconnected the tracker or the battery; if that comes with each stop, wire the tracker to permanent power',
  },
  battery_low: {
    severity: 'warning',
    link: 'connected',
    message: 'the battery of the tracker of {} is low',
    action: 'charge it, or check what feeds it: nothing comes any more once the battery is empty',
  },
  jammed: {
    severity: 'warning',
    link: 'connected',
    message: 'the signals of {} are jammed, says the tracker',
    action: 'ask the driver, and look after it: somebody near it may suppress radio or GPS to steal it',
  },
  alert_failed: {
    severity: 'warning',
    link: 'accepted',
    message: '{} is not told of findings',
    action: 'correct the receiver or its URL in gateway.yaml (alerts), then test it: waybridge alerts test',
  },
  copy_failing: {
    severity: 'warning',
    link: 'accepted',
    message: 'the copy {} does not reach its receiver',
    action:
      'see the evidence: start its receiver, or correct the copy in gateway.yaml (copies); what waits is delivered once it answers',
  },
  copy_full: {
    severity: 'error',
    link: 'accepted',
    message: 'so much waits for the copy {} that the oldest positions are discarded',
    action: 'see why its receiver does not take them, or raise max_waiting (copies) or the memory of Redis',
  },
  copy_refused: {
    severity: 'warning',
    link: 'accepted',
    message: 'the receiver of the copy {} refuses positions: they are parked',
    action: 'correct the cause that its answer names, then retry them: waybridge parked retry --copy NAME',
  },
  plain_to_tls: {
    severity: 'warning',
    link: 'connected',
    message: 'what comes to {} does not speak TLS: nothing of it is taken',
    action: 'if it is a tracker, switch on its TLS, or set a port without TLS in it',
  },
  no_id: {
    severity: 'warning',
    link: 'identified',
    message: 'positions by the protocol {} name no device: they are not taken',
    action: 'set the id (the IMEI) in the tracker that the evidence names, or have it log in first',
  },
  checksum_errors: {
    severity: 'warning',
    link: 'understood',
    message: 'frames of {} have a wrong checksum: they are not acknowledged',
    action: 'update the firmware of the device, or look for what damages its frames on the way, such as a serial modem',
  },
  roster_rejected: {
    severity: 'warning',
    link: 'placed',
    message: 'lines are left out of the roster',
    action: 'correct the lines in the evidence, and write the roster again',
  },
  roster_pull_failed: {
    severity: 'warning',
    link: 'placed',
    message: 'the roster of {} cannot be pulled: its lines stay as they were',
    action:
      'see that its server runs, and that url, token and ca are right in gateway.yaml (roster.pull); it is tried again by itself',
  },
  roster_stale: {
    severity: 'warning',
    link: 'placed',
    message: 'the roster is outdated',
    action: 'write the roster of today, or copy the newer file here: waybridge routes put FILE',
  },
  redelivery_offered: {
    severity: 'warning',
    link: 'accepted',
    message: 'positions of {} went to another route than the roster says now',
    action:
      'deliver them to their route as well: the button of this finding, or waybridge redeliver; the route that has them keeps them',
  },
  keep_full: {
    severity: 'warning',
    link: 'accepted',
    message: 'delivered fixes are kept for {} only: they take as much memory as they may',
    action: 'raise keep.max_memory or the memory of Redis, or lower keep.delivered in gateway.yaml',
  },
} satisfies Record<string, Meaning>

/**
 * Returns the meaning of a trouble of one device. On the wrong port, without a listener for all protocols, nothing of the
 * device is accepted.
 */
export function deviceMeaning(code: FindingCode): Meaning {
  return code === 'wrong_port' ? NOT_TAKEN : CODES[code]
}

export const NOT_TAKEN: Meaning = {
  severity: 'warning',
  link: 'understood',
  message: '{}, on a route now, sends to a port that does not understand it: nothing of it is taken',
  action:
    'set the port of its protocol in the device, or add a listener for all protocols (protocol auto) to listeners in gateway.yaml',
}

/** Findings that show that a device does send: it is never called silent. */
export const SENT_IN_VAIN: ReadonlySet<FindingCode> = new Set(['wrong_secret', 'not_permitted', 'checksum_errors'])

/** Findings from alarms of trackers. They break no link. */
export const ALARM_FINDINGS: ReadonlySet<FindingCode> = new Set(['sos', 'power_cut', 'battery_low', 'jammed'])

/** Alarms, files, settings and pulled rosters that are not in effect, while their earlier version is, receivers of alerts, copies, and what becomes of delivered positions. */
export const BREAKS_NO_LINK: ReadonlySet<FindingCode> = new Set([
  ...ALARM_FINDINGS,
  'config_refused',
  'restart_needed',
  'roster_pull_failed',
  'alert_failed',
  'redelivery_offered',
  'keep_full',
  'missing_at_api',
  'trial_unreachable',
  'copy_failing',
  'copy_full',
  'copy_refused',
])

/** Findings about files that each process of a machine reports. */
export const SAID_BY_EACH: ReadonlySet<FindingCode> = new Set(['config_refused', 'restart_needed'])

/** Findings that name each device, unless more than a hundred of a company have one. */
export const ALWAYS_NAMED: ReadonlySet<FindingCode> = new Set(['sos'])

/** The code of a finding. */
export type FindingCode = keyof typeof CODES
