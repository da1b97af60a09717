import { kmh, knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const uplink = (decoded_payload: object | undefined, device_id = 'van-12') =>
  post(
    '/',
    JSON.stringify({
      end_device_ids: { device_id },
      uplink_message: {
        f_port: 1,
        frm_payload: 'AQID',
        decoded_payload,
        rx_metadata: [{ gateway_ids: { gateway_id: 'roof' }, location: { latitude: 48.1, longitude: 11.5 } }],
        locations: { user: { latitude: 48.1, longitude: 11.5, source: 'SOURCE_REGISTRY' } },
        received_at: '2024-05-01T10:15:31.123456789Z',
      },
    }),
  )
const PAYLOAD = { latitude: 52.525, longitude: -13.41, altitude: 34, speed: 12.5, heading: 270, hdop: 0.9, sats: 8 }
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, altitude: 34 }
const PLACE = { latitude: 52.525, longitude: -13.41 }
const RECEIVED = { ...PLACE, time: '2024-05-01T10:15:31.123Z' }
const EUI = '0102030405060708'
const chirpStack = (event: object) => post('/?event=up', JSON.stringify({ data: 'AQID', fCnt: 4, fPort: 5, ...event }))
const GATEWAYS = [{ gatewayId: '0016c001f153a14c', location: { latitude: 48.1, longitude: 11.5 } }]
const oyster = (fixFailed: boolean) =>
  uplink({ type: 'position', latitudeDeg: 52.525, longitudeDeg: -13.41, fixFailed, headingDeg: 90, speedKmph: 36 })

export default {
  costly: {
    channels: uplink(Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`gps_${i}x`, {}]))),
    'places with a time of their own': uplink(
      Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [i, { lat: 1, lng: 2, time: 1e9 }])),
    ),
    'a name': uplink({ [`gps${many('lat')}`]: 1 }),
    arrays: post('/', many('[')),
  },
  frames: [
    {
      title: 'a payload of its own, of Cayenne LPP, and without a place',
      frames: [
        {
          frame: uplink({ ...PAYLOAD, time: '2024-05-01T10:15:30.000Z' }),
          device: 'van-12',
          fixes: [{ ...FIX, speed: knots(12.5), heading: 270, hdop: 0.9, satellites: 8 }],
        },
        {
          frame: uplink({ gps_5: { latitude: 52.525, longitude: -13.41, altitude: 34 }, temperature_0: 20 }),
          device: 'van-12',
          fixes: [{ ...FIX, time: '2024-05-01T10:15:31.123Z' }],
        },
        { frame: uplink({ temperature_0: 20 }), device: 'van-12', none: 'no place' },
        { frame: uplink(undefined), device: 'van-12', fixes: [] },
        { frame: post('/', '{"end_device_ids":{"device_id":"1"},"join_accept":{}}'), device: '1', none: 'no place' },
        { frame: uplink({}, ''), error: 'malformed' },
      ],
    },
    {
      title: 'a Digital Matter Oyster, with and without a fix',
      frames: [
        { frame: oyster(false), device: 'van-12', fixes: [{ ...RECEIVED, speed: kmh(36), heading: 90 }] },
        { frame: oyster(true), device: 'van-12', fixes: [{ ...RECEIVED, speed: kmh(36), heading: 90, valid: false }] },
      ],
    },
    {
      title: 'ChirpStack, versions 4 and 3, and Helium',
      frames: [
        {
          frame: chirpStack({
            time: '2024-05-01T10:15:31.123456+00:00',
            deviceInfo: { deviceName: 'van', devEui: EUI },
            object: PLACE,
            rxInfo: GATEWAYS,
          }),
          device: EUI,
          fixes: [RECEIVED],
        },
        {
          frame: chirpStack({
            devEUI: 'AQIDBAUGBwg=',
            objectJSON: '{"gpsLocation":{"1":{"latitude":52.525,"longitude":-13.41}}}',
            publishedAt: '2024-05-01T10:15:31.123Z',
          }),
          device: EUI,
          fixes: [RECEIVED],
        },
        {
          frame: chirpStack({ devEUI: EUI, object: { temperature: 20 }, rxInfo: GATEWAYS }),
          device: EUI,
          none: 'no place',
        },
        { frame: chirpStack({ deviceInfo: { devEui: EUI }, object: null, rxInfo: GATEWAYS }), device: EUI, fixes: [] },
        {
          frame: post(
            '/',
            JSON.stringify({
              dev_eui: EUI,
              name: 'van',
              payload: 'AQID',
              port: 1,
              reported_at: 1714558531123,
              decoded: { payload: PLACE, status: 'success' },
              hotspots: [{ lat: 48.1, long: 11.5 }],
            }),
          ),
          device: EUI,
          fixes: [RECEIVED],
        },
        {
          frame: post('/', JSON.stringify({ dev_eui: EUI, payload: 'AQID', hotspots: [{ lat: 48.1, long: 11.5 }] })),
          device: EUI,
          fixes: [],
        },
      ],
    },
  ],
} satisfies ProtocolCases
