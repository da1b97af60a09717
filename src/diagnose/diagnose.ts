import type { Observation, ObservationCode, Subject } from '../observe/observations.ts'

/** The links that a position passes, in their order. */
type Link = 'connected' | 'understood' | 'identified' | 'placed' | 'stored' | 'pushed' | 'accepted'
type Severity = 'info' | 'warning' | 'error'

/** One thing that is wrong, with its cause, its evidence and what to do. Instants in ms UTC. */
export interface Finding {
  readonly code: ObservationCode
  readonly severity: Severity
  /** The link that is broken or in danger. */
  readonly link: Link
  readonly subject: Subject
  readonly sinceAt: number
  readonly count: number
  readonly evidence: readonly string[]
  readonly message: string
  readonly action: string
}

/** What is known of the whole system. */
export interface Facts {
  /** Of all processes. */
  readonly observations: readonly Observation[]
}

/** Pure: what is wrong by these facts, errors first. What several processes observe of one subject is one finding. */
export function diagnose({ observations }: Facts): Finding[] {
  const bySubject = Map.groupBy(observations, ({ code, subject }) => `${code} ${JSON.stringify(subject)}`)
  const findings = [...bySubject.values()].map(findingOf)
  return findings.toSorted((one, other) => ORDER[one.severity] - ORDER[other.severity] || one.sinceAt - other.sinceAt)
}

function findingOf(same: readonly Observation[]): Finding {
  const [{ code, subject }] = same
  const { severity, link, message, action } = CODES[code]
  return {
    code,
    severity,
    link,
    subject,
    sinceAt: Math.min(...same.map(({ sinceAt }) => sinceAt)),
    count: same.reduce((sum, { count }) => sum + count, 0),
    evidence: [...new Set(same.flatMap(({ evidence }) => evidence))].slice(0, MAX_EVIDENCE),
    message: message(subject.device ?? subject.listener ?? subject.process ?? 'a device'),
    action,
  }
}

/** What each code means; src/diagnose/README.md has a paragraph for each. */
interface Meaning {
  readonly severity: Severity
  readonly link: Link
  /** `about`: the device, listener or process that the finding is about. */
  readonly message: (about: string) => string
  readonly action: string
}

export const CODES = {
  clock_ahead: {
    severity: 'warning',
    link: 'placed',
    message: (about) => `the fixes of ${about} are ahead of our clock and are held`,
    action:
      'set time_zone for the device in devices.yaml if it reports local time; otherwise set the clock of the device',
  },
  own_clock: {
    severity: 'error',
    link: 'placed',
    message: () => 'the clock of this machine is in doubt: fixes that seem too new or too old are held',
    action: 'set the clock of the machine and keep it synchronised (NTP)',
  },
  held_full: {
    severity: 'error',
    link: 'placed',
    message: (about) => `so many fixes of ${about} are held that the oldest are discarded`,
    action: 'give the device a route, or correct its clock; the held fixes then go where they belong',
  },
  unknown_refused: {
    severity: 'warning',
    link: 'identified',
    message: () => 'so many devices that are not configured send fixes that further ones are refused',
    action: 'add the devices that are yours to devices.yaml, or set hold.unknown: false',
  },
  marks_full: {
    severity: 'warning',
    link: 'stored',
    message: (about) =>
      `the marks that recognise duplicates of ${about} have reached their limit: duplicates may be pushed`,
    action: 'find out who sends so many different times for the device; give it a secret',
  },
  parked_full: {
    severity: 'error',
    link: 'accepted',
    message: () => 'too many positions are parked: devices on lanes with parked positions are not acknowledged',
    action: 'correct what the tracking API refuses and retry, or delete the parked positions',
  },
  redis_full: {
    severity: 'error',
    link: 'stored',
    message: () => 'the memory of Redis is used up to its stop mark: nothing is acknowledged',
    action: 'raise redis.max_memory, or find out why the tracking API does not take what waits',
  },
  not_stored: {
    severity: 'error',
    link: 'stored',
    message: () => 'frames are not acknowledged because they cannot be stored',
    action: 'see the evidence: the reason is the same as the label of waybridge_not_stored_total',
  },
  not_understood: {
    severity: 'warning',
    link: 'understood',
    message: (about) => `${about} sends positions that are not understood: the frames are kept as they came`,
    action:
      'they are decoded again after an upgrade, or when the entry of the device changes: check its model, settings and protocol, and report the frames in the evidence',
  },
  slow_script: {
    severity: 'warning',
    link: 'stored',
    message: () => 'calls to Redis are slow',
    action: 'check the disk and the load of the machine that Redis runs on',
  },
  event_loop_delay: {
    severity: 'warning',
    link: 'connected',
    message: (about) => `${about} reacts late: its event loop is delayed`,
    action: 'check the load of the machine; if a sender causes it, the other findings name it',
  },
  flood: {
    severity: 'warning',
    link: 'connected',
    message: () => 'senders take more than their share: the rest is read later, or dropped',
    action: 'block the networks in the evidence in your firewall if they are not yours',
  },
  connections_full: {
    severity: 'error',
    link: 'connected',
    message: () =>
      'the limit of open connections is reached: new ones are refused, or replace those without an identity',
    action: 'block the networks in the evidence if they are not yours, or raise limits.max_connections',
  },
  device_connections: {
    severity: 'warning',
    link: 'connected',
    message: (about) => `${about} opens more connections than limits.max_connections_per_device: the oldest are closed`,
    action: 'find out who else uses the id of the device; give it a secret or networks',
  },
  one_address: {
    severity: 'warning',
    link: 'connected',
    message: (about) => `all connections to ${about} come from one address: limits by address apply to all together`,
    action: 'if a load balancer is in front, set proxy_protocol: true and trusted_proxies',
  },
  open_files: {
    severity: 'warning',
    link: 'connected',
    message: () => 'nearly all connections are taken that the limit of open files allows',
    action: 'raise the limit of open files (ulimit -n, or LimitNOFILE in the systemd unit)',
  },
  guessing: {
    severity: 'warning',
    link: 'identified',
    message: (about) =>
      `somebody guesses the secret of ${about}: from that network it is not looked at for a growing time`,
    action:
      'block the networks in the evidence in your firewall; if it is the device itself, set the same secret in it and in devices.yaml',
  },
  wrong_secret: {
    severity: 'warning',
    link: 'identified',
    message: (about) =>
      `${about} presents a wrong secret, or none, and is treated like a device that is not configured`,
    action: 'set the same secret in the device and in devices.yaml',
  },
  not_permitted: {
    severity: 'warning',
    link: 'identified',
    message: (about) =>
      `${about} came in a way that devices.yaml does not allow, and is treated like a device that is not configured`,
    action:
      'see the evidence; correct protocol, transports, networks or client_certificate of the device if it is yours',
  },
  claimed_twice: {
    severity: 'warning',
    link: 'identified',
    message: (about) => `${about} is in two places at once: two senders use its id`,
    action: 'find out which sender is the real one; give the device a secret, networks or a client certificate',
  },
  impossible_move: {
    severity: 'warning',
    link: 'identified',
    message: (about) => `${about} moved faster than a vehicle can`,
    action: 'compare the positions in the evidence; if they are not its own, give the device a secret',
  },
  certificate_expires: {
    severity: 'warning',
    link: 'connected',
    message: (about) => `the certificate of ${about} ends soon`,
    action: 'renew the certificate; the new files are used without a restart',
  },
  certificate_refused: {
    severity: 'error',
    link: 'connected',
    message: (about) => `the new certificate files of ${about} cannot be used: the earlier ones stay in effect`,
    action: 'correct the files named in the evidence',
  },
  enrolment_open: {
    severity: 'info',
    link: 'identified',
    message: () => 'the enrolment window is open: devices that are not configured are admitted',
    action: 'nothing to do: it closes by itself',
  },
  wrong_port: {
    severity: 'info',
    link: 'understood',
    message: (about) => `${about} sends to the port of another protocol; its fixes are taken all the same`,
    action: 'set the port that the evidence names in the device',
  },
  port_taken: {
    severity: 'warning',
    link: 'connected',
    message: (about) => `the default port of ${about} is taken: no tracker can connect to it`,
    action: 'end the program that has the port, or list the ports that you need in listeners (gateway.yaml)',
  },
} satisfies Record<ObservationCode, Meaning>

const ORDER = { error: 0, warning: 1, info: 2 } satisfies Record<Severity, number>
const MAX_EVIDENCE = 5
