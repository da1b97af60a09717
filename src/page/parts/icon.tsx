import type { JSX } from 'preact'

/** Lines on a grid of 16. */
const PATHS = {
  now: 'M1.5 8.5h3l2-5.5 3 10 2-4.5h3',
  vans: 'M1.5 4h8v7.5h-8zM9.5 6.5h3l2 2.5v2.5h-5M4.5 13a1.4 1.4 0 1 0 0-2.8 1.4 1.4 0 0 0 0 2.8zM11.8 13a1.4 1.4 0 1 0 0-2.8 1.4 1.4 0 0 0 0 2.8z',
  day: 'M2 4.5h12M2 8h4M9 8h5M2 11.5h8M12.5 11.5H14',
  roster: 'M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 1.8v3M10.5 1.8v3M5 9h3M7.5 11.2h3.5',
  arrivals: 'M8 1.8v7M5 6l3 3 3-3M2 9.5v4h12v-4h-3.2l-1.1 1.6H6.3L5.2 9.5z',
  trial: 'M2 5h7M2 11h7M9 5l5 3-5 3M9 2.5v11',
  queues: 'M8 2 14 5 8 8 2 5zM2.4 8 8 10.8 13.6 8M2.4 11 8 13.8 13.6 11',
  activity: 'M8 14A6 6 0 1 0 2.2 9.5M2 4.5V8h3.4M8 5v3.4l2.2 1.4',
  ok: 'M3.5 8.4 6.6 11.5 12.5 4.8',
  error: 'M8 3.5v5.6M8 12.2v.3',
  warning: 'M8 2 14.4 13.4H1.6zM8 6.4v3.2M8 11.5v.2',
  info: 'M8 7.2v4.6M8 4.2v.3',
  idle: 'M4 8h8',
  unknown: 'M5.8 6a2.3 2.3 0 1 1 3.2 2.1c-.7.3-1 .8-1 1.6M8 12v.3',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.8 10.8 14 14',
  close: 'M4 4l8 8M12 4l-8 8',
  chevron: 'M6 3.5 10.5 8 6 12.5',
  external: 'M6 3H3v10h10v-3M9 3h4v4M13 3 7.5 8.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  table: 'M2 3h12v10H2zM2 6.5h12M2 9.8h12M6.5 6.5V13',
  map: 'M2 4l4-1.5 4 1.5 4-1.5v9.5L10 13.5 6 12 2 13.5zM6 2.5V12M10 4v9.5',
  leave: 'M6 2.5H2.5v11H6M6.5 8H14M11 5l3 3-3 3',
  refresh: 'M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 2v3h-3',
  upload: 'M8 10.5V2.5M5 5.5l3-3 3 3M2.5 10v3.5h11V10',
  swap: 'M2.5 5.5h10M9.5 2.5l3 3-3 3M13.5 10.5h-10M6.5 7.5l-3 3 3 3',
  undo: 'M3 6.5h7a3.5 3.5 0 0 1 0 7H6M3 6.5l3-3M3 6.5l3 3',
  lock: 'M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  plus: 'M8 3v10M3 8h10',
  play: 'M5 3l8 5-8 5z',
  pause: 'M5.5 3v10M10.5 3v10',
  print: 'M4.5 6V2.5h7V6M4.5 11.5h-2V6h11v5.5h-2M4.5 9.5h7v4h-7z',
  download: 'M8 2.5v8M5 7.5l3 3 3-3M2.5 10v3.5h11V10',
} as const

export type IconName = keyof typeof PATHS

/** A decoration: the text beside it has its meaning. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }): JSX.Element {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  )
}
