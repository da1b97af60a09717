import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { DeviceJson } from '../../../admin/schemas/devices.ts'
import { api } from '../../data/api.ts'
import { messageOf } from '../../parts/basics.tsx'
import { toast } from '../../parts/toast.tsx'
import { ChangeButton } from '../../parts/change-button.tsx'
import { words } from '../../words/index.ts'
import { entryBody } from './entry-dialog.tsx'

interface ZoneButtonProps {
  readonly detail: DeviceJson
  readonly offset: string
  readonly changed: () => void
}

/** Sets the time zone that explains why a device's clock is ahead, which releases its held fixes. */
export function ZoneButton({ detail, offset, changed }: ZoneButtonProps): JSX.Element {
  const [isBusy, setBusy] = useState(false)
  const set = async () => {
    setBusy(true)
    await api.putDevice(detail.id, { ...entryBody(detail), time_zone: offset }).then(
      () => toast(words.van.zoneSet(offset)),
      (error) => toast(messageOf(error), 'failed'),
    )
    setBusy(false)
    changed()
  }
  return (
    <ChangeButton type="button" class="button small" disabled={isBusy} onClick={() => void set()}>
      {words.van.setZone(offset)}
    </ChangeButton>
  )
}
