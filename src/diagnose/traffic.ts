import { counted, joined, say, type Template, type Text } from '../texts/text.ts'
import type { StoppedTraffic, Trait } from './device-facts.ts'
import type { Facts, Found } from './facts.ts'

/** A finding for each time that vans fell silent together. */
export function trafficTroubles({ traffic = [], nameOf }: Facts): Found[] {
  return traffic.map(({ company, fromAt, named, of, shared, still, untilAt, vans }): Found => {
    const seconds = Math.max(1, Math.ceil((untilAt - fromAt) / 1000))
    const [from, until] = [fromAt, untilAt].map((at) => new Date(at).toISOString())
    const names = named.map((id) => nameOf?.(id) ?? id).join(', ')
    const nothing = shared || vans === of ? [] : [say('nothing that is known of them sets them apart from the others')]
    return {
      code: 'traffic_stopped',
      subject: company === undefined ? {} : { company_id: company },
      count: still,
      sinceAt: fromAt,
      message: shared
        ? say('{} of {} vans {} fell silent within {} s', vans, of, traitText(shared), seconds)
        : say('{} of {} vans fell silent within {} s', vans, of, seconds),
      action: say(shared ? ACTIONS[shared.kind] : ACTIONS.all),
      evidence: [
        say('heard last between {} and {}', from, until),
        ...(shared ? sharedTexts(shared) : nothing),
        counted(still, '{} van is silent still', '{} vans are silent still'),
        still > named.length ? say('{} and {} more', names, still - named.length) : names,
      ],
    }
  })
}

function sharedTexts({ also, others, othersSilent }: NonNullable<StoppedTraffic['shared']>): Text[] {
  return [
    ...(others > 0 ? [say('other vans: {} of {} fell silent then', othersSilent, others)] : []),
    ...(also.length > 0 ? [say('this fits them alone, too: {}', joined(also.map(traitText), ', '))] : []),
  ]
}

function traitText({ kind, value }: Trait): Text {
  return joined([say(TRAITS[kind]), value], ' ')
}

const TRAITS = {
  port: 'at port',
  protocol: 'that speak',
  gateway: 'at the gateway',
  company: 'of company',
  model: 'of the model',
  network: 'from the network',
} as const satisfies Record<Trait['kind'], Template>
const ACTIONS = {
  all: 'check what is between the trackers and this server: its address and port forwarding, the firewall, the mobile network',
  port: 'check the way to this port: the firewall, the port forwarding, a load balancer in front of it',
  protocol: 'check the way to the port of this protocol, and what was changed in all these trackers',
  gateway: 'check this machine and its network; ending the gateway lets its trackers connect elsewhere',
  company: 'ask the company what it has changed: the SIM contract, the APN, or the address in its trackers',
  model: 'ask the maker of the trackers, and whoever sends them settings or new firmware',
  network: 'ask the operator of this network, and check that no firewall blocks it',
} as const satisfies Record<Trait['kind'] | 'all', Template>
