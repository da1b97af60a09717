import { randomUUID } from 'node:crypto'
import type { Aedes, Client } from 'aedes'
import { isSecretOf } from '../../ingest/device.ts'
import { metrics } from '../../observe/metrics.ts'
import { sameId } from '../../roster/directory.ts'
import type { LinkOf, MqttShared } from './link.ts'
import type { Unreleased } from './twice.ts'

type Login = Pick<Aedes, 'preConnect' | 'authenticate'>

/** The handlers of CONNECT: user name and password are the device's id and secret. Of a device unknown, nothing is kept. */
export function createLogin({ admitsUnknown, complete, directory, heard, limits }: MqttShared, linkOf: LinkOf): Login {
  /** Of each device the session that it last asked to be kept: one, however many client ids it makes up. */
  const kept = new Map<string, { readonly clientId: string; readonly unreleased: Unreleased }>()

  function unreleasedOf(device: string, { id, clean }: Client): Unreleased {
    const before = kept.get(device)
    if (!clean && before?.clientId === id) return before.unreleased
    const unreleased: Unreleased = new Map()
    if (!clean) kept.set(device, { clientId: id, unreleased })
    else if (before?.clientId === id) kept.delete(device)
    return unreleased
  }

  return {
    preConnect(client, packet, done) {
      if (!complete()) {
        metrics.refused.inc({ reason: 'not_ready' })
        // Without an answer: there are clients that come no more once one has refused them.
        linkOf(client).stream.destroy()
        return
      }
      const { clientId, keepalive = 0, username = '' } = packet
      if (keepalive > 0) linkOf(client).silenceMs = Math.min(keepalive * 1500, limits.idle_timeout)
      // The listener looks after silence: while it does not read, silence is no fault of the device's.
      packet.keepalive = 0
      // A client id counts within its device: with another's id nobody ends another's connection.
      const device = directory().find(username)?.id ?? sameId(username)
      packet.clientId = JSON.stringify([device, clientId === '' ? randomUUID() : clientId])
      // Nobody would receive it.
      delete packet.will
      done(null, true)
    },
    authenticate(client, username = '', password, done) {
      const entry = directory().find(username)
      const secret = password?.toString()
      const link = linkOf(client)
      if (!entry && admitsUnknown && username !== '') {
        link.session.device = sameId(username)
        return done(null, true)
      }
      if (!entry) return done(refusal('unknown_device', 5), false)
      if (!isSecretOf(entry, secret)) {
        heard.became(entry.id, 'refused', 'wrong_secret')
        return done(refusal('wrong_secret', 4), false)
      }
      link.session.device = entry.id
      link.session.secret = secret
      link.session.settings = entry.protocolSettings
      link.unreleased = unreleasedOf(entry.id, client)
      link.session.now = Date.now()
      heard.spoke(entry.id, link.session)
      done(null, true)
    },
  }
}

/** `returnCode`: 4 bad user name or password, 5 not authorised. */
function refusal(reason: 'unknown_device' | 'wrong_secret', returnCode: 4 | 5) {
  metrics.refused.inc({ reason })
  return Object.assign(new Error(reason), { returnCode })
}
