import { useRef, useState } from 'preact/hooks'
import type { ArrivalJson } from '../../../admin/schemas/arrivals.ts'
import type { DeviceRowJson } from '../../../admin/schemas/devices.ts'
import { useEvents, useFleet } from '../../data/hooks.ts'
import { heardSince, plain } from './heard.ts'

/** What has arrived since the user began to wait. */
export interface Awaited {
  /** The tracker that is waited for; without its id, all that were never heard before. */
  readonly vans: readonly DeviceRowJson[]
  /** By id: the positions of devices that are not configured. */
  readonly positions: ReadonlyMap<string, ArrivalJson['position']>
  /** The last sender that was not understood. */
  readonly unread?: ArrivalJson
}

/** Waits for a tracker from now on. `id`: its id, if it is known. */
export function useAwaited(id: string): Awaited {
  const { vans, isLoaded } = useFleet()
  const [unread, setUnread] = useState<ArrivalJson>()
  const [positions, setPositions] = useState<Awaited['positions']>(new Map())
  const before = useRef<ReadonlyMap<string, string | undefined> | undefined>(undefined)
  useEvents('arrival', (data) => {
    const arrival = data as ArrivalJson
    const { device, position } = arrival
    if (device === undefined) setUnread(arrival)
    else if (position) setPositions((known) => new Map(known).set(plain(device), position))
  })
  if (isLoaded) before.current ??= new Map(vans.map((van) => [plain(van.id), van.last_heard?.at]))
  return { vans: before.current ? heardSince(vans, before.current, id) : [], positions, unread }
}
