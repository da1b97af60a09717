import { expect, it } from 'vitest'
import { loadProtocols } from '../../../protocols/index.ts'
import { Detector } from '../../../src/gateway/wire/detect.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { type Gateway, gateway, open } from '../../support/listen.ts'
import { thrown } from '../../support/thrown.ts'

const protocols = await loadProtocols()
const AT = { host: '127.0.0.1', port: 0 }
const NOW = Date.now() - 60_000
const TIME = new Date(NOW).toISOString()
const PLACE = { latitude: 52.525, longitude: 13.41 }
const THINGS_STACK = { application_ids: { application_id: 'vans' } }
const uplink = (decoded_payload: object) => ({
  end_device_ids: { device_id: 'van-12', ...THINGS_STACK },
  uplink_message: { frm_payload: 'AQID', decoded_payload, received_at: TIME },
})

const OVERLAND = {
  locations: [
    {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [13.41, 52.525] },
      properties: { timestamp: TIME, device_id: 'van-12' },
    },
  ],
}

/** What the cloud of a vendor or an app posts about a device; `device` if its id is not `van-12`. */
const WEBHOOKS: readonly (readonly [sender: string, body: object, device?: string])[] = [
  ['The Things Stack', uplink(PLACE)],
  ['a Digital Matter Oyster', uplink({ latitudeDeg: 52.525, longitudeDeg: 13.41, fixFailed: false, speedKmph: 36 })],
  ['a Dragino TrackerD', uplink({ Latitude: 52.525, Longitud: 13.41, LON: 'ON', Location: '52.525,13.41' })],
  ['ChirpStack', { time: TIME, deviceInfo: { devEui: 'van-12' }, fCnt: 4, data: 'AQID', object: PLACE }],
  ['Helium', { dev_eui: 'van-12', reported_at: NOW, payload: 'AQID', decoded: { payload: PLACE, status: 'success' } }],
  ['Overland', OVERLAND],
  ['Traccar', { position: { ...PLACE, fixTime: TIME, valid: true, speed: 4 }, device: { id: 7, uniqueId: 'van-12' } }],
  [
    'Garmin',
    {
      Version: '2.0',
      Events: [{ imei: 'van-12', messageCode: 0, timeStamp: NOW, point: { ...PLACE, altitude: 34, gpsFix: 3 } }],
    },
  ],
  [
    'Particle',
    {
      event: 'loc',
      coreid: 'van-12',
      published_at: TIME,
      data: JSON.stringify({ cmd: 'loc', loc: { lck: 1, time: NOW / 1000, lat: 52.525, lon: 13.41, alt: 34 } }),
    },
  ],
  [
    'Notehub',
    { device: 'dev:1234', file: '_track.qo', best_lat: 52.525, best_lon: 13.41, best_location_when: NOW / 1000 },
    'dev:1234',
  ],
]

/** The ports of protocols that refuse what is not theirs. */
const PORTS = ['osmand', 'owntracks', 'ttnhttp', 'traccar', 'inreach', 'particle', 'notehub']

const DEVICES = new Set(['van-12', 'dev:1234'])
const configured = (device: string) => (DEVICES.has(device) ? '' : undefined)
const detector = new Detector({ protocols, configured, onFault: thrown })

/** A gateway with one device, and its port of a protocol. */
async function listening(protocol: string, id: string): Promise<{ shared: Gateway; url: string }> {
  const shared = gateway({ detector })
  await shared.configure({ id, company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' })
  const spoken = protocols.filter(({ name }) => name === protocol)
  const { port } = await open(listenHttp({ ...AT, protocol: spoken[0] }, shared))
  return { shared, url: `http://127.0.0.1:${port}/` }
}

const everywhere = WEBHOOKS.flatMap(([sender, body, device = 'van-12']) =>
  PORTS.map((name) => ({ sender, name, body, device })),
)
it.each(everywhere)('takes a webhook of $sender on the port of $name', async ({ name, body, device }) => {
  const { shared, url } = await listening(name, device)
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  expect(response.status).toBe(200)
  expect(shared.places).toEqual(['7/42/1001'])
  expect(await response.text()).toBe(body === OVERLAND ? '{"result":"ok"}' : '')
})

it('does not confirm a webhook of Overland that is not stored', async () => {
  const { shared, url } = await listening('osmand', 'van-12')
  shared.store = 'fails'
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(OVERLAND) })
  expect(response.status).toBe(503)
  expect(await response.text()).not.toContain('result')
})
