import { crc16CcittFalse, sum8, xorOfText } from '../../../protocols/kit/index.ts'
import { post } from '../protocol-cases.ts'
import { ARRIVED } from '../vectors/vectors.ts'
import { type CountedLayout, clock, nmea, type Place, scaled, w } from './layout.ts'

const IMEI = '356307042441013'
const hex2 = (value: number) => value.toString(16).toUpperCase().padStart(2, '0')
const sum8Of = (text: string) => hex2(sum8(Buffer.from(text)))
const iso = ({ time }: Place) => new Date(time).toISOString().replace('.000', '')
const degrees = ({ latitude, longitude }: Place) => [latitude.toFixed(6), longitude.toFixed(6)]
const nmeaPlace = (place: Place, separator = ',') =>
  [nmea(place.latitude, 2), 'N', nmea(place.longitude, 3), 'E'].join(separator)

const gl200 = (place: Place, date = clock(place.time, 'ZMDhms')) =>
  `1,0.0,90,34.0,${degrees(place)[1]},${degrees(place)[0]},${date},0460,0000,18d8,6141,00,`

const vltRecord = (place: Place, isBroken = false) => {
  const [latitude, longitude] = degrees(place).map((angle) => angle.padStart(10, '0'))
  const head = `01L${isBroken ? 'x' : '1'}${clock(place.time, 'DMYhms')}${latitude}N${longitude}E`
  return `${head}4040010001000000000000.00090.000910201 1M`.replace(' ', '').padEnd(78, '0')
}

/** A report of a base station, which has a time. */
const aisReport = (place: Place) => {
  const [year, month, day, hour, minute, second] = clock(place.time, 'Z M D h m s').split(' ').map(Number)
  const time = [
    [year, 14],
    [month, 4],
    [day, 5],
    [hour, 5],
    [minute, 6],
    [second, 6],
    [0, 1],
  ]
  const angles = [
    [scaled(place.longitude, 600_000), 28],
    [scaled(place.latitude, 600_000), 27],
    [0, 34],
  ]
  const fields = [[4, 6], [0, 2], [211_000_001, 30], ...time, ...angles]
  const digits = fields.map(([value, width]) => value.toString(2).padStart(width, '0')).join('')
  const content = (digits.match(/.{6}/g) ?? []).map((six) => {
    const value = Number.parseInt(six, 2)
    return String.fromCharCode(value + (value < 40 ? 48 : 56))
  })
  return `!AIVDM,1,1,,A,${content.join('')},0`
}

/** Degrees, minutes, and their hundredths twice. */
const piligrimAngle = (angle: number) => {
  const parts = Math.round(angle * 600_000)
  return [parts / 600_000, (parts / 10_000) % 60, (parts / 100) % 100, parts % 100].map(Math.floor)
}

const json = (value: (place: Place) => unknown) => (place: Place) => JSON.stringify(value(place))
const array = (records: readonly Buffer[]) => `[${records.join(',')}]`

export const TEXT: readonly CountedLayout[] = [
  {
    protocol: 'wialon',
    before: [`#L#${IMEI};NA\r\n`],
    most: 200,
    record: (place) => `${clock(place.time, 'DMY;hms')};${nmeaPlace(place, ';')};0;90;34;9`,
    frame: (records) => `#B#${records.join('|')}\r\n`,
    answer: (count) => `#AB#${count}\r\n`,
    broken: () => 'x;y',
  },
  {
    protocol: 'gl200',
    layout: 'text',
    most: 60,
    never0: 'a report without a place has its fields, empty',
    record: (place) => gl200(place),
    broken: (place) => gl200(place, '20261120266060'),
    frame: (records) => `+RESP:GTFRI,020102,${IMEI},,0,0,${records.length},${records.join('')}92,20261120060000,11F0$`,
    answer: () => '+SACK:11F0$',
  },
  {
    protocol: 'gl100',
    most: 60,
    never0: 'a report without a place has its fields, empty',
    record: (place) =>
      `0,0.0,90,34.0,1,${degrees(place)[1]},${degrees(place)[0]},${clock(place.time, 'ZMDhms')},0460,0000,18d8,6141,,`,
    frame: (records) => `+RESP:GTFRI,${IMEI},0,0,1,${records.length},${records.join('')}11F0,0102\0`,
  },
  {
    protocol: 'gosafe',
    most: 100,
    never0: 'a frame of its head alone is a heartbeat',
    record: (place) => `${clock(place.time, 'hmsDMY')},GPS:A;9;N${degrees(place)[0]};E${degrees(place)[1]};0;90`,
    broken: (place) => `${clock(place.time, 'hmsDMY')},GPS:A;9;X1;E13.4;0;90`,
    frame: (records) => `*GS16,${IMEI},${records.join('$')}#`,
    answer: () => '1234',
  },
  {
    protocol: 'h02',
    layout: 'BC',
    most: 60,
    record: (place) => `A,${nmeaPlace(place)},000.00,090,${clock(place.time, 'Dhms')},FFFFFBFF`,
    broken: () => 'A,x',
    frame: (records) => `*HQ,1451316409,BC,060000,${records.length},${records.join(';')}#`,
  },
  {
    protocol: 'm2c',
    most: 60,
    never0: 'brackets hold lines',
    record: (place) =>
      `#M2C,2020,P1.B1.H1.F9,101,${IMEI},2,L,1,100,${clock(place.time, 'YMD,hms')},${degrees(place).join(',')},34,90,0,9,0.0,0,0,12000,4000,0*0000`,
    broken: () => '#M2C,2020',
    frame: (records) => `[${records.join('\r\n')}]`,
  },
  {
    protocol: 'mictrack',
    layout: 'MT600',
    most: 60,
    never0: 'a line is sent for its positions',
    record: (place) => `${clock(place.time, 'hms')}.00,A,${nmeaPlace(place)},0.0,90,34,${clock(place.time, 'DMY')}`,
    broken: () => '060000.00,A,x',
    frame: (records) => `${IMEI}$${records.join('$')}`,
  },
  {
    protocol: 'racedynamics',
    before: [`$GPRMC,12,201126,060000,${IMEI},\r\n`],
    most: 60,
    never0: 'a line is sent for its records',
    record: (place) =>
      `${clock(place.time, 'hms')},A,${nmeaPlace(place)},000,${clock(place.time, 'DMY')},0034,09,1,00011,%,0000000000000000,000,000,0,0,1,,,,F3VF01,00000000,%`,
    broken: () => '060000,A,x',
    frame: (records) => `$GPRMC,15,${String(records.length).padStart(2, '0')},L,#,${records.join(',#,#,')},#\r\n`,
    answer: () => `$GPRMC,15,${clock(ARRIVED, 'DMY,hms')},${IMEI},\r\n`,
  },
  {
    protocol: 'meiligao',
    layout: '6688',
    most: 60,
    record: (place) => `\x01${clock(place.time, 'hms')}.000,A,${nmeaPlace(place)},0,90,${clock(place.time, 'DMY')}`,
    broken: () => '\x01x',
    frame: (records) => {
      const content = Buffer.concat([Buffer.of(records.length), Buffer.from(records.join('\\'))])
      const head = w()
        .ascii('$$')
        .u16(17 + content.length)
        .hex('12345678901fff')
        .u16(0x6688)
      return head.bytes(content).crc16(crc16CcittFalse).ascii('\r\n')
    },
  },
  {
    protocol: 'telemax',
    most: 255,
    record: (place) => {
      const angles = [place.longitude, place.latitude].map((angle) => scaled(angle + 180, 30_000).toString(16))
      return `80${angles.map((digits) => digits.padStart(6, '0')).join('')}${clock(place.time, 'YMDhms')}00000000`
    },
    broken: (place) => `80000000000000${clock(place.time, 'Y')}1399000000${'0'.repeat(8)}`,
    frame: (records) => {
      const text = `Y000007C6999999061234564649003C00A7${hex2(records.length)}${records.join('')}`
      return `${text}${sum8Of(text)}\r\n`
    },
  },
  {
    protocol: 'tlt2h',
    most: 60,
    record: (place) => {
      const text = `GPRMC,${clock(place.time, 'hms')}.000,A,${nmeaPlace(place)},0.0,90.0,${clock(place.time, 'DMY')},,,A`
      return `#41$${text}*${hex2(xorOfText(text, 0, text.length))}\r\n`
    },
    broken: () => '#41$GPRMC,x*00\r\n',
    frame: (records) => `#${IMEI}#MT600#0000#AUTO#${records.length}\r\n${records.join('')}##\r\n`,
  },
  {
    protocol: 'v680',
    most: 60,
    record: (place) =>
      `#40#${nmea(place.longitude, 3)},E,${nmea(place.latitude, 2)},N,0,90#${clock(place.time, 'DMY#hms')}`,
    broken: () => '#40#1,E,x,N,0,90#201126#060000',
    frame: (records) => `#${IMEI}#u#1#0000#AUT#${records.length}${records.join('')}##`,
  },
  {
    protocol: 'freematics',
    most: 60,
    record: (place) =>
      `0:${place.index},A:${degrees(place)[0]},B:${degrees(place)[1]},10:${clock(place.time, 'hms')}00,11:${clock(place.time, 'DMY')}`,
    broken: ({ index }) => `0:${index},A:x,B:13.4,10:6000000,11:201126`,
    frame: (records) => {
      const text = `ABCDEF#${records.join(',')}`
      return `${text}*${sum8Of(text)}`
    },
  },
  {
    protocol: 'ais',
    transport: 'udp',
    most: 60,
    never0: 'a datagram is made of sentences',
    record: (place) => {
      const text = aisReport(place)
      return `${text}*${hex2(xorOfText(text, 1, text.length))}\r\n`
    },
    broken: (place) => `${aisReport(place)}*00\r\n`,
    frame: (records) => records.join(''),
  },
  {
    protocol: 'vlt',
    layout: 'BTH',
    most: 200,
    record: (place) => vltRecord(place),
    broken: (place) => vltRecord(place, true),
    frame: (records) =>
      post('/', `vltdata=BTH${IMEI}${String(records.length).padStart(3, '0')}${records.join('')}`, FORM),
  },
  {
    protocol: 'piligrim',
    most: 60,
    record: (place) => {
      const [, month, day, ...time] = (clock(place.time, 'YMDhms').match(/../g) ?? []).map(Number)
      const content = [day, month, ...time, ...piligrimAngle(place.latitude), ...piligrimAngle(place.longitude), 0, 9]
      return Buffer.from([0xff, 0xf2, content.length + 3, ...content])
    },
    broken: () => Buffer.from([0xff, 0xf2, 5, 32, 0xfd]),
    frame: (records) => post(`/bingps?imei=${IMEI}`, Buffer.concat(records)),
  },
  {
    protocol: 'moovbox',
    most: 60,
    record: (place) =>
      `<coordinate><fix>3</fix><time>${place.seconds}</time><latitude>${degrees(place)[1]}</latitude><longitude>${degrees(place)[0]}</longitude></coordinate>`,
    broken: () => '<coordinate><fix>3</fix></coordinate>',
    frame: (records) => post('/', `<gps id="box"><coordinates>${records.join('')}</coordinates></gps>`),
  },
  {
    protocol: 'spot',
    most: 60,
    record: (place) =>
      `<message><esn>0-7</esn><timestamp>${iso(place)}</timestamp><latitude>${degrees(place)[0]}</latitude><longitude>${degrees(place)[1]}</longitude></message>`,
    broken: () => '<message><esn>0-7</esn></message>',
    frame: (records) => post('/', `<messageList>${records.join('')}</messageList>`),
  },
  {
    protocol: 'globalstar',
    layout: 'XML',
    most: 60,
    record: (place) => {
      const angles = [scaled(place.latitude, 2 ** 23 / 90), scaled(place.longitude, 2 ** 23 / 180)]
      const payload = `00${angles.map((angle) => angle.toString(16).padStart(6, '0')).join('')}0000`
      return `<stuMessage><esn>0-7</esn><unixTime>${place.seconds}</unixTime><payload length="9">0x${payload}</payload></stuMessage>`
    },
    broken: () => '<stuMessage><esn>0-7</esn></stuMessage>',
    frame: (records) => post('/', `<stuMessages a="" messageID="m">${records.join('')}</stuMessages>`),
  },
  {
    protocol: 'globalstar',
    layout: 'JSON',
    most: 60,
    record: json(({ seconds, latitude, longitude }) => ({
      gpsCoordinate: { latitude, longitude },
      deviceIdentify: { esn: '0-7', unixTime: seconds },
    })),
    broken: json(() => ({
      gpsCoordinate: { latitude: 1, longitude: 'x' },
      deviceIdentify: { esn: '0-7', unixTime: 1 },
    })),
    frame: (records) => post('/', `{"entry":{"devices":${array(records)}}}`),
  },
  {
    protocol: 'osmand',
    layout: 'JSON',
    most: 200,
    record: json((place) => ({ timestamp: iso(place), coords: place })),
    broken: json(() => ({ timestamp: 1, coords: {} })),
    frame: (records) => post('/', `{"device_id":"7","location":${array(records)}}`),
  },
  {
    protocol: 'osmand',
    layout: 'Overland',
    most: 200,
    record: json((place) => ({
      geometry: { coordinates: [place.longitude, place.latitude] },
      properties: { timestamp: iso(place), device_id: '7', horizontal_accuracy: 5 },
    })),
    broken: json(() => ({ geometry: {}, properties: { device_id: '7' } })),
    frame: (records) => post('/?id=7', `{"locations":${array(records)}}`),
  },
  {
    protocol: 'owntracks',
    most: 200,
    record: json(({ seconds, latitude, longitude }) => ({
      _type: 'location',
      tst: seconds,
      lat: latitude,
      lon: longitude,
    })),
    broken: json(() => ({ _type: 'location' })),
    frame: (records) => post('/pub?u=7&d=phone', array(records)),
  },
  {
    protocol: 'fix',
    transport: 'mqtt',
    most: 200,
    record: json(({ time, latitude, longitude }) => ({ timestamp: time, lat: latitude, lon: longitude })),
    broken: json(() => ({ lat: 1 })),
    frame: array,
  },
  {
    protocol: 'flespi',
    most: 200,
    record: json((place) => ({
      ident: '7',
      timestamp: place.seconds,
      'position.latitude': place.latitude,
      'position.longitude': place.longitude,
    })),
    broken: json(() => ({ ident: '7', 'position.latitude': 'x', 'position.longitude': 1 })),
    frame: (records) => post('/', array(records)),
  },
  {
    protocol: 'inreach',
    most: 60,
    record: json((place) => ({ imei: IMEI, messageCode: 0, timeStamp: place.time, point: { ...place, gpsFix: 2 } })),
    broken: json(() => ({ imei: IMEI, messageCode: 0, point: { latitude: 1, longitude: 1 } })),
    frame: (records) => post('/', `{"Version":"2.0","Events":${array(records)}}`),
  },
  {
    protocol: 'valtrack',
    isUntimed: true,
    most: 60,
    record: json(({ latitude, longitude }) => ({ devid: '7', lat: String(latitude), lon: String(longitude) })),
    broken: json(() => ({ devid: '7', lat: 'x', lon: '1' })),
    frame: (records) => post('/', `{"resource":${array(records)}}`),
  },
  {
    protocol: 'dmthttp',
    most: 60,
    record: json((place) => ({
      DateUTC: iso(place),
      Fields: [{ FType: 0, GpsUTC: iso(place), Lat: place.latitude, Long: place.longitude, GpsStat: 1 }],
    })),
    broken: json(() => ({ Fields: [{ FType: 0, Lat: 1, Long: 'x' }] })),
    frame: (records) => post('/', `{"SerNo":7,"IMEI":"${IMEI}","Records":${array(records)}}`),
  },
]

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
