/*
 * Moovbox M-series routers. No specification is known: inferred from a request, whose elements are those of gpsd. HTTP, XML:
 *
 *   <gps id="I"><coordinates><coordinate> <fix>F</fix> <time>T</time> <latitude>O</latitude> <longitude>A</longitude>
 *   <altitude>H</altitude> <speed>S</speed> <track>C</track> <satellites>n</satellites> … </coordinate>…</coordinates></gps>
 *
 *   F  2, 3: fix     O  longitude, A  latitude: the names of the elements are interchanged in what was seen
 *   T  unix seconds  H  metres      S  m/s      C  degrees      n  satellites      200 acknowledges
 */
import {
  bodyText,
  DecodeError,
  eachReadable,
  enveloped,
  type Fix,
  type HttpRequest,
  heading,
  type Message,
  number,
  optionalNumber,
  type Protocol,
  unixTime,
  xmlElements,
  xmlText,
} from '../kit/index.ts'

export default {
  name: 'moovbox',
  devices: 'Moovbox routers',
  acknowledges: 'fixes',
  http: { port: 5212 },
  request,
} satisfies Protocol

function request(report: HttpRequest): Message {
  const xml = bodyText(report)
  const device = /<gps\s+id="([^"]{1,64})"/.exec(xml)?.[1]
  if (device === undefined) throw new DecodeError('unsupported', 'the body has no <gps id="…">')
  const coordinates = xmlElements(xml, 'coordinate')
  if (coordinates.length === 0) return { device, none: 'no place' }
  return enveloped({ device }, () => {
    const { good, unreadable } = eachReadable(coordinates, fixOf)
    return { fixes: good, unreadable }
  })
}

function fixOf(xml: string): Fix {
  const measured = (name: string) => optionalNumber(xmlText(xml, name))
  return {
    time: unixTime(number(xmlText(xml, 'time'))),
    latitude: number(xmlText(xml, 'longitude')),
    longitude: number(xmlText(xml, 'latitude')),
    valid: (measured('fix') ?? 0) >= 2,
    altitude: measured('altitude'),
    speed: measured('speed'),
    heading: heading(measured('track')),
    satellites: measured('satellites'),
  }
}
