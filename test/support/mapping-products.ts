/** A product whose JSON a mapping reads, after its public document; ids, places and times are our own. */
export interface MappedProduct {
  readonly product: string
  /** As it stands in mappings.yaml. */
  readonly mapping: string
  readonly message: unknown
  /** The device of the topic: it comes over MQTT then. */
  readonly topic?: string
  /** The address of its request. */
  readonly uri?: string
  readonly device?: string
  readonly fixes: readonly Readonly<Record<string, unknown>>[]
}

/** 2026-11-20T06:00:00Z */
export const AT = 1_795_154_400
const PLACE = { latitude: 54.6872, longitude: 25.2797 }
const FIX = { ...PLACE, time: AT * 1000, valid: true }
const [LAT, LON] = [PLACE.latitude, PLACE.longitude]
const ISO = '2026-11-20T06:00:00Z'
const IMEI = '356307042441013'

export const PRODUCTS: readonly MappedProduct[] = [
  {
    product: 'OwnTracks, HTTP mode',
    mapping:
      '{ device: tid, time: tst, time_format: s, lat: lat, lon: lon, accuracy: acc, altitude: alt, heading: cog, speed: { path: vel, unit: kmh }, said: { battery_percent: batt } }',
    message: {
      _type: 'location',
      tid: 'v12',
      lat: LAT,
      lon: LON,
      tst: AT,
      acc: 8,
      alt: 112,
      cog: 90,
      vel: 36,
      batt: 87,
    },
    device: 'v12',
    fixes: [{ ...FIX, accuracy: 8, altitude: 112, heading: 90, speed: 10, said: { battery_percent: 87 } }],
  },
  {
    product: 'Traccar, forwarded positions',
    mapping:
      '{ device: $.device.uniqueId, time: $.position.fixTime, time_format: iso, lat: $.position.latitude, lon: $.position.longitude, valid: $.position.valid, accuracy: $.position.accuracy, heading: $.position.course, speed: { path: $.position.speed, unit: knots }, said: { ignition: $.position.attributes.ignition } }',
    message: {
      device: { id: 3, name: 'Van 12', uniqueId: IMEI },
      position: {
        deviceId: 3,
        fixTime: '2026-11-20T06:00:00.000+00:00',
        valid: true,
        latitude: LAT,
        longitude: LON,
        speed: 19.438445,
        course: 90,
        accuracy: 5,
        attributes: { ignition: true, batteryLevel: 80 },
      },
    },
    device: IMEI,
    fixes: [{ ...FIX, accuracy: 5, heading: 90, speed: expect10(), said: { ignition: true } }],
  },
  {
    product: 'flespi, a stream over HTTP',
    mapping:
      '{ each: $[*], device: ident, time: timestamp, time_format: s, lat: \'["position.latitude"]\', lon: \'["position.longitude"]\', altitude: \'["position.altitude"]\', heading: \'["position.direction"]\', satellites: \'["position.satellites"]\', speed: { path: \'["position.speed"]\', unit: kmh }, said: { ignition: \'["engine.ignition.status"]\', external_voltage: \'["external.powersource.voltage"]\' } }',
    message: [
      {
        ident: IMEI,
        timestamp: AT,
        'position.latitude': LAT,
        'position.longitude': LON,
        'position.altitude': 112,
        'position.direction': 90,
        'position.satellites': 12,
        'position.speed': 36,
        'engine.ignition.status': true,
        'external.powersource.voltage': 12.45,
      },
      { ident: '356307042441021', timestamp: AT + 10, 'position.latitude': LAT, 'position.longitude': LON },
    ],
    fixes: [
      {
        ...FIX,
        device: IMEI,
        altitude: 112,
        heading: 90,
        satellites: 12,
        speed: 10,
        said: { ignition: true, external_voltage: 12.45 },
      },
      { ...FIX, device: '356307042441021', time: (AT + 10) * 1000 },
    ],
  },
  {
    product: 'Teltonika, JSON for AWS IoT',
    mapping:
      '{ time: $.state.reported.ts, time_format: ms, lat: "$.state.reported.latlng[0]", lon: "$.state.reported.latlng[1]", altitude: $.state.reported.alt, heading: $.state.reported.ang, satellites: $.state.reported.sat, speed: { path: $.state.reported.sp, unit: kmh }, said: { ignition: $.state.reported.239, external_voltage: { path: $.state.reported.66, unit: mv } } }',
    message: {
      state: {
        reported: {
          ts: String(AT * 1000),
          latlng: `${LAT},${LON}`,
          alt: '112',
          ang: '90',
          sat: '12',
          sp: '36',
          '239': 1,
          '66': 12_450,
        },
      },
    },
    topic: IMEI,
    fixes: [
      {
        ...FIX,
        altitude: 112,
        heading: 90,
        satellites: 12,
        speed: 10,
        said: { ignition: true, external_voltage: 12.45 },
      },
    ],
  },
  {
    product: 'Wialon, messages of its Remote API',
    mapping:
      '{ each: $.messages[*], time: t, time_format: s, lat: pos.y, lon: pos.x, altitude: pos.z, heading: pos.c, satellites: pos.sc, speed: { path: pos.s, unit: kmh } }',
    message: {
      count: 1,
      messages: [
        { t: AT, f: 3, tp: 'ud', pos: { y: LAT, x: LON, z: 112, s: 36, c: 90, sc: 12 }, p: { pwr_ext: 12.4 } },
      ],
    },
    uri: `/?id=${IMEI}`,
    device: IMEI,
    fixes: [{ ...FIX, altitude: 112, heading: 90, satellites: 12, speed: 10 }],
  },
  {
    product: 'GPSLogger for Android, a custom URL with a JSON body',
    mapping:
      '{ device: ser, time: time, time_format: iso, lat: lat, lon: lon, accuracy: acc, altitude: alt, heading: dir, speed: spd, hdop: hdop, said: { battery_percent: batt, charging: ischarging } }',
    message: {
      lat: String(LAT),
      lon: String(LON),
      time: ISO,
      acc: '8.0',
      alt: '112',
      dir: '90.0',
      spd: '10',
      hdop: '0.8',
      batt: '87.0',
      ischarging: 'false',
      ser: 'R58M12345',
    },
    device: 'R58M12345',
    fixes: [
      {
        ...FIX,
        accuracy: 8,
        altitude: 112,
        heading: 90,
        speed: 10,
        hdop: 0.8,
        said: { battery_percent: 87, charging: false },
      },
    ],
  },
  {
    product: 'Home Assistant, the state of a device tracker',
    mapping:
      '{ device: $.entity_id, time: $.last_updated, time_format: iso, lat: $.attributes.latitude, lon: $.attributes.longitude, accuracy: $.attributes.gps_accuracy, said: { battery_percent: $.attributes.battery_level } }',
    message: {
      entity_id: 'device_tracker.van_12',
      state: 'not_home',
      attributes: { latitude: LAT, longitude: LON, gps_accuracy: 12, battery_level: 64, source_type: 'gps' },
      last_updated: '2026-11-20T06:00:00.000000+00:00',
    },
    device: 'device_tracker.van_12',
    fixes: [{ ...FIX, accuracy: 12, said: { battery_percent: 64 } }],
  },
  {
    product: 'Shelly, a script that posts where it is installed',
    mapping: '{ device: $.device.mac, time: $.sys.unixtime, time_format: s, lat: $.location.lat, lon: $.location.lon }',
    message: {
      device: { name: 'Depot', mac: 'A8032ABE54DC', fw_id: '20260101-120000' },
      location: { tz: 'Europe/Vilnius', lat: LAT, lon: LON },
      sys: { unixtime: AT, uptime: 3600 },
    },
    device: 'A8032ABE54DC',
    fixes: [FIX],
  },
  {
    product: 'The Things Stack, a webhook of an uplink',
    mapping:
      '{ device: $.end_device_ids.device_id, time: $.uplink_message.received_at, lat: $.uplink_message.decoded_payload.latitude, lon: $.uplink_message.decoded_payload.longitude, hdop: $.uplink_message.decoded_payload.hdop, said: { battery_voltage: $.uplink_message.decoded_payload.batV } }',
    message: {
      end_device_ids: {
        device_id: 'van-12',
        application_ids: { application_id: 'fleet' },
        dev_eui: '70B3D57ED0001234',
      },
      received_at: '2026-11-20T06:00:01.250000000Z',
      uplink_message: {
        f_port: 2,
        received_at: '2026-11-20T06:00:00.000000000Z',
        decoded_payload: { latitude: LAT, longitude: LON, hdop: 1.2, batV: 3.9 },
        rx_metadata: [{ gateway_ids: { gateway_id: 'roof' }, location: { latitude: 54.7, longitude: 25.3 } }],
      },
    },
    device: 'van-12',
    fixes: [{ ...FIX, hdop: 1.2, said: { battery_voltage: 3.9 } }],
  },
  {
    product: 'ChirpStack, an uplink event',
    mapping:
      '{ device: $.deviceInfo.devEui, time: $.time, time_format: iso, lat: $.object.gps.latitude, lon: $.object.gps.longitude, altitude: $.object.gps.altitude }',
    message: {
      deduplicationId: '3ac7e3c4-4401-4b8d-9386-a5c902f9202d',
      time: '2026-11-20T06:00:00+00:00',
      deviceInfo: { applicationName: 'fleet', deviceName: 'van 12', devEui: '0101010101010101' },
      fPort: 85,
      object: { gps: { latitude: LAT, longitude: LON, altitude: 112 } },
      rxInfo: [{ gatewayId: '0016c001f153a14c', location: { latitude: 54.7, longitude: 25.3 } }],
    },
    device: '0101010101010101',
    fixes: [{ ...FIX, altitude: 112 }],
  },
  {
    product: 'Overland for iOS, a batch',
    mapping:
      '{ each: $.locations[*], device: properties.device_id, time: properties.timestamp, time_format: iso, lat: geometry.coordinates[1], lon: geometry.coordinates[0], accuracy: properties.horizontal_accuracy, altitude: properties.altitude, speed: properties.speed }',
    message: {
      locations: [0, 10].map((later) => ({
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [LON, LAT] },
        properties: {
          timestamp: new Date((AT + later) * 1000).toISOString(),
          altitude: 112,
          speed: 10,
          horizontal_accuracy: 8,
          device_id: 'van12',
          battery_level: 0.8,
        },
      })),
    },
    device: 'van12',
    fixes: [0, 10].map((later) => ({ ...FIX, time: (AT + later) * 1000, altitude: 112, speed: 10, accuracy: 8 })),
  },
  {
    product: 'Ruuvi Gateway',
    mapping:
      '{ device: $.data.gw_mac, time: $.data.timestamp, time_format: s, lat: "$.data.coordinates[0]", lon: "$.data.coordinates[1]" }',
    message: {
      data: {
        coordinates: `${LAT}, ${LON}`,
        timestamp: String(AT),
        nonce: '2636366621',
        gw_mac: 'C8:25:2D:8E:9C:2C',
        tags: {},
      },
    },
    device: 'C8:25:2D:8E:9C:2C',
    fixes: [FIX],
  },
  {
    product: 'Particle Tracker, the value of its location event',
    mapping:
      '{ time: $.loc.time, time_format: s, lat: $.loc.lat, lon: $.loc.lon, valid: $.loc.lck, altitude: $.loc.alt, heading: $.loc.hd, accuracy: $.loc.h_acc, speed: $.loc.spd }',
    message: {
      cmd: 'loc',
      time: AT + 2,
      loc: { lck: 1, time: AT, lat: LAT, lon: LON, alt: 112, hd: 90, h_acc: 4.2, spd: 10 },
      trig: ['time'],
      req_id: 7,
    },
    uri: '/particle?id=e00fce68a1b2c3d4e5f60718',
    device: 'e00fce68a1b2c3d4e5f60718',
    fixes: [{ ...FIX, altitude: 112, heading: 90, accuracy: 4.2, speed: 10 }],
  },
  {
    product: 'Blynk, a webhook of a location datastream',
    mapping: '{ device: device, lat: V10[1], lon: V10[0] }',
    message: { device: '482913', V10: [String(LON), String(LAT)] },
    device: '482913',
    fixes: [FIX],
  },
  {
    product: 'Losant, the state of a device',
    mapping:
      '{ device: $.deviceId, time: $.time, time_format: iso, lat: "$.data.location[0]", lon: "$.data.location[1]", speed: $.data.speed }',
    message: { deviceId: '575ecf887ae143cd83dc4aa2', time: ISO, data: { location: `${LAT},${LON}`, speed: 10 } },
    device: '575ecf887ae143cd83dc4aa2',
    fixes: [{ ...FIX, speed: 10 }],
  },
  {
    product: 'Samsara, vehicle stats',
    mapping:
      '{ each: $.data[*], device: id, time: gps.time, time_format: iso, lat: gps.latitude, lon: gps.longitude, heading: gps.headingDegrees, speed: { path: gps.speedMilesPerHour, unit: mph } }',
    message: {
      data: [
        {
          id: '281474977075805',
          name: 'Van 12',
          gps: { time: ISO, latitude: LAT, longitude: LON, headingDegrees: 90, speedMilesPerHour: 25 },
        },
      ],
      pagination: { endCursor: 'x', hasNextPage: false },
    },
    device: '281474977075805',
    fixes: [{ ...FIX, heading: 90, speed: 11.176 }],
  },
  {
    product: 'Geotab, log records of a data feed',
    mapping:
      '{ each: $.result.data[*], device: device.id, time: dateTime, time_format: iso, lat: latitude, lon: longitude, speed: { path: speed, unit: kmh } }',
    message: {
      result: {
        data: [
          {
            latitude: LAT,
            longitude: LON,
            speed: 36,
            dateTime: '2026-11-20T06:00:00.000Z',
            device: { id: 'b12' },
            id: 'b7F',
          },
        ],
        toVersion: '0000000000000e2f',
      },
      jsonrpc: '2.0',
    },
    device: 'b12',
    fixes: [{ ...FIX, speed: 10 }],
  },
  {
    product: 'Navixy, data of its IoT logic',
    mapping:
      '{ device: device_id, time: message_time, time_format: iso, lat: latitude, lon: longitude, altitude: altitude, heading: heading, satellites: satellites, hdop: hdop, speed: { path: speed, unit: kmh } }',
    message: {
      message_time: ISO,
      server_time: '2026-11-20T06:00:03Z',
      device_id: IMEI,
      latitude: LAT,
      longitude: LON,
      altitude: 112,
      heading: 90,
      satellites: 12,
      hdop: 0.8,
      speed: 36,
    },
    device: IMEI,
    fixes: [{ ...FIX, altitude: 112, heading: 90, satellites: 12, hdop: 0.8, speed: 10 }],
  },
  {
    product: 'TeslaMate, its location topic',
    mapping: '{ lat: latitude, lon: longitude }',
    message: { latitude: LAT, longitude: LON },
    topic: 'car-1',
    fixes: [FIX],
  },
  {
    product: 'SensorLog for iOS, with numbers as text',
    mapping:
      '{ device: deviceID, time: locationTimestamp_since1970, time_format: s, lat: locationLatitude, lon: locationLongitude, altitude: locationAltitude, heading: locationCourse, speed: locationSpeed, accuracy: locationHorizontalAccuracy }',
    message: {
      deviceID: '6F1B2C3D',
      locationTimestamp_since1970: `${AT}.000000`,
      locationLatitude: String(LAT),
      locationLongitude: String(LON),
      locationAltitude: '112.0',
      locationCourse: '-1.0',
      locationSpeed: '-1.0',
      locationHorizontalAccuracy: '8.0',
    },
    device: '6F1B2C3D',
    fixes: [{ ...FIX, altitude: 112, accuracy: 8 }],
  },
  {
    product: 'Sigfox, a callback with the computed location',
    mapping:
      '{ device: $.device, time: $.time, time_format: s, lat: $.computedLocation.lat, lon: $.computedLocation.lng, accuracy: $.computedLocation.radius }',
    message: { device: '1A2B3C', time: String(AT), computedLocation: { lat: LAT, lng: LON, radius: 1800, source: 2 } },
    device: '1A2B3C',
    fixes: [{ ...FIX, accuracy: 1800 }],
  },
  {
    product: 'Blues Notehub, a routed event',
    mapping:
      '{ device: $.device, time: $.where_when, time_format: s, lat: $.where_lat, lon: $.where_lon, said: { battery_voltage: $.body.voltage } }',
    message: {
      event: '4fa1…',
      device: 'dev:864475046552567',
      when: AT + 5,
      where_when: AT,
      where_lat: LAT,
      where_lon: LON,
      tower_lat: 54.7,
      tower_lon: 25.3,
      body: { voltage: 4.1, temperature: 21 },
    },
    device: 'dev:864475046552567',
    fixes: [{ ...FIX, said: { battery_voltage: 4.1 } }],
  },
]

/** 10 m/s, which is no round number of knots. */
function expect10(): unknown {
  return { asymmetricMatch: (value: unknown) => typeof value === 'number' && Math.abs(value - 10) < 0.001 }
}
