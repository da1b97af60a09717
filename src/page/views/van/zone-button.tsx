import type { JSX } from 'preact'
import type { DeviceJson } from '../../../admin/schemas/devices.ts'
import { api } from '../../data/api.ts'
import { ChangeButton } from '../../parts/change-button.tsx'
import { useToastedWork } from '../../parts/work.ts'
import { words } from '../../words/index.ts'
import { entryBody } from './entry-dialog.tsx'

interface ZoneButtonProps {
  readonly detail: DeviceJson
  readonly offset: string
  readonly changed: () => void
}

/** Sets the time zone that explains why a device's clock is ahead, which releases its held fixes. */
export function ZoneButton({ detail, offset, changed }: ZoneButtonProps): JSX.Element {
  const { isBusy, run } = useToastedWork()
  const set = async () => {
    await api.putDevice(detail.id, { ...entryBody(detail), time_zone: offset })
    return words.van.zoneSet(offset)
  }
  return (
    <ChangeButton type="button" class="button small" disabled={isBusy} onClick={() => void run(set).then(changed)}>
      {words.van.setZone(offset)}
    </ChangeButton>
  )
}
