import { joined, say, type Template, type Text } from '../texts/text.ts'
import { CODES, type FindingCode, NOT_TAKEN } from './codes.ts'

/**
 * Returns a text in the words of a dispatcher, who does not know how waybridge works. A text without such words stays as it
 * is for operators.
 */
export function plainly(text: Text): Text {
  if (typeof text === 'string') return text
  const values = text.values.map((value) => (typeof value === 'number' ? value : plainly(value)))
  const about = wordsAbout(text.says)
  if (about !== undefined) return joined([asText(values[0]), say(about)], ': ')
  const [says, ...picked] = PLAIN[text.says as Template] ?? [text.says]
  if (says === ITSELF) return asText(values[picked[0]])
  return { ...text, says, values: says === text.says ? values : picked.map((index) => values[index]) }
}

/** Returns what is wrong with a van, without its name, by the operator's message; undefined: there are no such words. */
export function wordsAbout(message: string): Template | undefined {
  return ABOUT[message as Template]
}

function asText(value: Text | number): Text {
  return typeof value === 'number' ? String(value) : value
}

/** Sentences about the van, or the vans, that the first value names: `Van 41: SOS`. */
const ABOUT: Readonly<Partial<Record<Template, Template>>> = {
  [CODES.silent.message]: 'nothing is heard, though on a route now',
  [CODES.gps_old.message]: 'messages arrive, but no new position',
  [CODES.clock_behind.message]: 'the positions have wrong times: they are behind',
  [CODES.clock_ahead.message]: 'the clock of the tracker is ahead: positions are not delivered',
  [CODES.no_route.message]: 'positions arrive, but there is no route for them',
  [CODES.unknown_device.message]: 'sends positions, and is not named yet: they are held back',
  [CODES.wrong_secret.message]: 'a wrong password, or none, is presented: what comes with it is not delivered',
  [CODES.not_permitted.message]: 'something comes in a way that the entry does not allow: it is not delivered',
  [CODES.claimed_twice.message]: 'two senders use the same id or address',
  [CODES.impossible_move.message]: 'moved faster than a vehicle can',
  [CODES.guessing.message]: 'somebody tries wrong passwords',
  [CODES.device_connections.message]: 'more connections use the same id than are allowed',
  [CODES.checksum_errors.message]: 'messages arrive damaged',
  [CODES.not_understood.message]: 'positions arrive that cannot be read: they are kept',
  [CODES.wrong_port.message]: 'sends to the port of other trackers: the positions are taken all the same',
  [NOT_TAKEN.message]: 'on a route now, but sends to a port that does not understand it: nothing is taken',
  [CODES.held_full.message]: 'so many positions are held back that the oldest are given up',
  [CODES.held_too_long.message]: 'positions were held back for too long, and are given up',
  [CODES.marks_full.message]: 'positions may be sent twice',
  [CODES.sos.message]: 'SOS, the button was pressed',
  [CODES.power_cut.message]: 'the tracker says that its power was cut',
  [CODES.battery_low.message]: 'the battery of the tracker is low',
  [CODES.jammed.message]: 'the tracker says that its signals are jammed',
}

/** A text, and the numbers of the values that it keeps; `ITSELF`: that value alone. */
type PlainText = readonly [says: Template | typeof ITSELF, ...values: number[]]
const ITSELF = ''

const PLAIN: Partial<Readonly<Record<Template, PlainText>>> = {
  // Actions about vans.
  [CODES.silent.action]: ['have the power and the SIM card of the tracker checked'],
  [CODES.gps_old.action]: ['if no roof is above the van, have the GPS antenna of the tracker checked'],
  [CODES.clock_behind.action]: [
    'if the times are off by hours, set the time zone of the van under Edit; if not, set the clock of its tracker',
  ],
  'set time_zone: "{}" for {}, or have the device report UTC': ['set the time zone {} for {} under Edit', 0, 1],
  'remove the time_zone of {}, or set that of the device': ['remove the time zone of {} under Edit', 0],
  '{} at {}': [ITSELF, 0],
  [CODES.clock_ahead.action]: [
    'if the tracker reports local time, set the time zone of the van under Edit; otherwise have the clock of the tracker set',
  ],
  [CODES.no_route.action]: ['assign a route: held positions of its time go there'],
  [CODES.unknown_device.action]: ['if it is yours, name it under Arrivals: its held positions are then delivered'],
  'is it {}, whose id in {} {}? If so, correct the id there; otherwise name it under Arrivals or in devices.yaml if it is yours':
    ['is it {}, with a mistyped id? If so, correct that id; otherwise name it under Arrivals if it is yours', 0],
  [CODES.wrong_secret.action]: ['set the same password in the tracker and under Edit of the van'],
  [CODES.not_permitted.action]: ['if that is your tracker, have its entry corrected'],
  [CODES.claimed_twice.action]: ['find out which sender is the real one'],
  [CODES.impossible_move.action]: ['look at its way: if the positions are not its own, somebody else uses its id'],
  [CODES.guessing.action]: ['tell who runs this server: the networks that try can be blocked'],
  [CODES.device_connections.action]: ['find out who else uses the same id'],
  [CODES.checksum_errors.action]: ['have the firmware of the tracker updated, or its connection checked'],
  [CODES.not_understood.action]: ['check the model of the tracker in its entry; otherwise report it'],
  [CODES.wrong_port.action]: ['have another port set in the tracker; it does not hurry'],
  [NOT_TAKEN.action]: ['have the right port set in the tracker'],
  'it seems to speak {}, for which there is no listener: add one to listeners in gateway.yaml, and set its port in the device':
    ['it seems to speak {}, for which this server has no port: tell who runs it', 0],
  'it seems to speak {}: set port {} in the device': ['have port {} set in the tracker: it seems to speak {}', 1, 0],
  [CODES.held_too_long.action]: ['open the van: it says what holds its positions back'],
  [CODES.marks_full.action]: ['find out who sends so many different times for the van'],
  [CODES.two_on_route.action]: ['end the route of the van that does not drive it: the positions of all are sent'],
  '{} devices': ['{} vans', 0],
  'each of {} devices': ['each of {} vans', 0],

  // The tracking API, which a dispatcher knows as a service.
  'the tracking API refuses the apikey of company {} ({}): {} parked': [
    'the tracking service refuses the password of company {}',
    0,
  ],
  'company {} has no apikey: {} parked': ['company {} has no password for the tracking service', 0],
  [CODES.apikey_refused.message]: ['the tracking service refuses the password of a company'],
  [CODES.apikey_refused.action]: [
    'tell who runs this server to set the right password; what was refused is kept, and is then sent again',
  ],
  'the tracking API refuses {} of company {} ({})': ['the tracking service refuses positions of company {}', 1],
  [CODES.lane_refused.message]: ['the tracking service refuses positions of some routes'],
  [CODES.lane_refused.action]: [
    'check courier and route, here or in the tracking service; what was refused is kept, and can be sent again',
  ],
  [CODES.positions_refused.message]: ['the tracking service refuses positions: they are kept'],
  'the tracking API refuses positions of courier {} on route {}: they are parked': [
    'the tracking service refuses positions of courier {} on route {}: they are kept',
    0,
    1,
  ],
  [CODES.positions_refused.action]: ['tell who runs the tracking service what its answer says'],
  'the tracking API does not answer courier {} on route {}, and answers others': [
    'the tracking service does not answer courier {} on route {}, and answers others',
    0,
    1,
  ],
  'the tracking API does not answer {} lanes of company {}, and answers others': [
    'the tracking service does not answer some couriers of company {}, and answers others',
    1,
  ],
  [CODES.lane_hanging.message]: ['the tracking service does not answer some couriers, and answers others'],
  'the tracking API refuses the OAuth token of company {}: orders and numbers are not relayed': [
    'the tracking service refuses the login of company {}: its orders and numbers are not passed on',
    0,
  ],
  [CODES.token_refused.message]: [
    'the tracking service refuses the login of a company: its orders and numbers are not passed on',
  ],
  [CODES.token_refused.action]: ['tell who runs this server to set a new login'],
  'the tracking API does not have {} of company {} that it took, on {}': [
    'the tracking service has lost {} of company {}, on {}',
    0,
    1,
    2,
  ],
  [CODES.missing_at_api.message]: ['the tracking service has lost positions'],
  [CODES.missing_at_api.action]: [
    'tell who runs the tracking service what is missing, and who runs this server to send it once more',
  ],
  ...actionOf(
    'tell who runs the tracking service; nothing is lost: positions wait, and are delivered once it answers again',
    ['lane_hanging', 'upstream_down', 'upstream_hanging'],
  ),
  'the tracking API {}': ['the tracking service {}', 0],
  'answers {}': ['answers with the error {}', 0],
  'cannot be found: its host name does not exist': ['cannot be found'],
  'has a certificate that is not accepted': ['does not prove who it is'],
  'does not complete a TLS handshake': ['cannot be reached'],
  [CODES.upstream_down.message]: ['the tracking service is down'],
  'correct tracking.base_url (or push_url), or the DNS of this machine': [
    'tell who runs this server: the address of the tracking service may be wrong',
  ],
  'check the network and the firewall between this machine and the API': [
    'tell who runs this server: the network to the tracking service is interrupted',
  ],
  'renew the certificate of the API, or correct tracking.base_url': [
    'tell who runs this server and the tracking service',
  ],
  'if the API asks for a client certificate, name it in tracking.tls (gateway.yaml), cert and key; otherwise tell who runs the API which versions of TLS it refuses: 1.2 and 1.3':
    ['tell who runs this server and the tracking service'],
  'what answers at {} is not the tracking API': ['something else answers in place of the tracking service'],
  [CODES.not_the_api.message]: ['something else answers in place of the tracking service'],
  [CODES.not_the_api.action]: [
    'tell who runs this server; nothing is lost: positions wait, and are delivered once the tracking service itself answers',
  ],
  [CODES.upstream_hanging.message]: ['the tracking service does not answer'],
  [CODES.upstream_slow.message]: ['the tracking service answers slowly: positions arrive late'],
  'the tracking API takes {} s for a request: positions arrive late': [
    'the tracking service answers slowly: positions arrive late',
  ],
  [CODES.upstream_slow.action]: ['tell who runs the tracking service'],
  [CODES.upstream_limited.message]: ['the tracking service is asked too often: positions arrive late'],
  [CODES.backlog.message]: ['positions wait for longer than a minute, though the tracking service answers'],
  [CODES.push_full.message]: ['positions wait: this server is set to send too few at once'],

  // The roster.
  'a line of {} is left out of the roster': ['a line of the roster is left out'],
  '{} lines of {} are left out of the roster': ['{} lines of the roster are left out', 0],
  [CODES.roster_rejected.action]: ['look under Roster at the lines that are left out, correct them, and give it again'],
  '{} is an older copy of what was written to the roster: it is not in effect': [
    'a roster file is older than what was given before: it is not in effect',
  ],
  [CODES.roster_pull_failed.message]: ['the roster of {} cannot be read: its routes stay as they were', 0],
  [CODES.roster_pull_failed.action]: ['tell who runs this server, or give the roster of today, under Roster'],
  'the roster that is pulled from {} is refused: its lines stay as they were': [
    'the roster of {} is refused: its routes stay as they were',
    0,
  ],
  'correct the roster at its source as the evidence says; where it would take routes and that is meant, write it with `waybridge routes put FILE --force`':
    ['correct the roster in that system, or give the roster of today, under Roster'],
  [CODES.roster_stale.action]: ['give the roster of today, under Roster'],
  [CODES.redelivery_offered.action]: [
    'deliver them to their route as well, with the button, or say that it is not needed',
  ],

  [CODES.config_refused.message]: ['the file {} is refused: what was in effect before stays in effect', 0],
  [CODES.config_refused.action]: ['tell who runs this server what the details say'],

  // This server.
  ...actionOf('tell who runs this server at once', [
    ...(['connections_full', 'port_taken', 'redis_unsafe', 'copy_full', 'redis_down', 'replicas_missing'] as const),
    ...(['redis_full', 'not_stored', 'disk_full', 'no_gateway', 'no_worker'] as const),
  ]),
  ...actionOf('tell who runs this server', [
    ...(['upstream_limited', 'backlog', 'push_full', 'slow_script', 'one_address', 'open_files'] as const),
    ...(['certificate_expires', 'certificate_refused', 'bridge_down', 'redis_unlimited', 'keep_full'] as const),
    ...(['copy_failing', 'copy_refused', 'alert_failed', 'parked_full', 'worker_stuck', 'restarting'] as const),
    'own_clock',
  ]),
  [CODES.restart_needed.action]: ['tell who runs this server: it has to be started again'],
  [CODES.slow_script.message]: ['this server stores slowly'],
  [CODES.event_loop_delay.message]: ['a part of this server reacts late: {}', 0],
  [CODES.event_loop_delay.action]: ['tell who runs this server, if it comes again'],
  [CODES.flood.action]: ['tell who runs this server: the networks that send so much can be blocked'],
  [CODES.guesses_refused.action]: ['tell who runs this server: the senders can be blocked'],
  [CODES.open_files.message]: ['nearly all connections are taken that this server may have'],
  [CODES.trial_unreachable.message]: [
    'the old system does not answer: vans that still speak to it by way of {} are cut off',
    0,
  ],
  [CODES.trial_unreachable.action]: ['tell who runs the old system'],
  [CODES.redis_unsafe.message]: ['this server would lose positions if it broke down'],
  [CODES.redis_unlimited.message]: ['the memory of this server has no limit: a part of it may be ended'],
  [CODES.keep_full.message]: ['delivered positions are kept for {} only: what is older cannot be corrected', 0],
  [CODES.copy_failing.message]: ['another system, {}, does not get the positions', 0],
  [CODES.copy_full.message]: ['another system, {}, has not taken positions for so long that it misses the oldest', 0],
  [CODES.copy_refused.message]: ['another system, {}, refuses positions', 0],
  [CODES.alert_failed.message]: ['{} is not told what is wrong', 0],
  [CODES.redis_down.message]: ['this server cannot store anything: no position is taken'],
  [CODES.replicas_missing.message]: ['a copy of the data is missing: no position is acknowledged'],
  [CODES.redis_full.message]: ['the memory of this server is used up: no position is taken'],
  [CODES.not_stored.message]: ['what some trackers send cannot be stored'],
  'Redis cannot rewrite its append-only file: it grows until the disk is full': [
    'this server cannot tidy up what it stores: that grows until the disk is full',
  ],
  'see the log of Redis for the reason: it may lack memory for that (vm.overcommit_memory), or space on its disk': [
    'tell who runs this server',
  ],
  [CODES.disk_full.message]: ['the disk of this server is full, or nearly: soon no position can be taken'],
  [CODES.parked_full.message]: [
    'the tracking service has refused so many positions that vans with refused ones are not answered',
  ],
  [CODES.no_gateway.message]: ['no tracker can send anything: a part of this server does not run'],
  [CODES.no_worker.message]: ['nothing is sent to the tracking service: a part of this server does not run'],
  [CODES.worker_stuck.message]: ['a part of this server does not run: its work goes to others'],
  [CODES.restarting.message]: ['a part of this server ends again and again'],
  [CODES.own_clock.message]: [
    'the clock of this server is in doubt: positions that seem too new or too old are held back',
  ],
  [CODES.custody_difference.message]: ['received positions and where they are do not add up'],
  [CODES.custody_difference.action]: ['tell who runs this server: it is a fault of waybridge'],
  [CODES.unknown_refused.message]: ['so many trackers without a name send that further ones are refused'],
  [CODES.unknown_refused.action]: ['name those that are yours under Arrivals'],
}

/** The same action for all these codes. */
function actionOf(action: Template, codes: readonly FindingCode[]): Readonly<Record<string, PlainText>> {
  return Object.fromEntries(codes.map((code) => [CODES[code].action, [action]]))
}
