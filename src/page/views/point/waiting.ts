import { useRef, useState } from 'preact/hooks'
import type { ArrivalJson } from '../../../admin/schemas/arrivals.ts'
import type { DeviceRowJson } from '../../../admin/schemas/devices.ts'
import { useEvents, useFleet } from '../../data/hooks.ts'
import { heardSince, plain } from './heard.ts'

/** What has come since somebody waits. */
export interface Awaited {
  /** The tracker that is waited for; without its id, all that were never heard before. */
  readonly vans: readonly DeviceRowJson[]
  /** The last sender that was not understood. */
  readonly unread?: ArrivalJson
}

/** Waits for a tracker from now on. `id`: its id, if it is known. */
export function useAwaited(id: string): Awaited {
  const { vans, isLoaded } = useFleet()
  const [unread, setUnread] = useState<ArrivalJson>()
  const before = useRef<ReadonlyMap<string, string | undefined> | undefined>(undefined)
  useEvents('arrival', (data) => {
    const arrival = data as ArrivalJson
    if (arrival.device === undefined) setUnread(arrival)
  })
  if (isLoaded) before.current ??= new Map(vans.map((van) => [plain(van.id), van.last_heard?.at]))
  return { vans: before.current ? heardSince(vans, before.current, id) : [], unread }
}
