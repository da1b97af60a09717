import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { DeviceJson, DeviceRowJson } from '../../../admin/schemas/devices.ts'
import { api } from '../../data/api.ts'
import { nameOf } from '../../data/van.ts'
import { messageOf } from '../../parts/basics.tsx'
import { Icon } from '../../parts/icon.tsx'
import { toast } from '../../parts/toast.tsx'
import { ChangeButton } from '../../parts/change-button.tsx'
import { words } from '../../words/index.ts'
import { AssignDialog } from '../van/assign-dialog.tsx'

/** Gives a route to a van that has none on this day. */
export function AssignButton({ van, changed }: { van: DeviceRowJson; changed: () => void }): JSX.Element {
  const [detail, setDetail] = useState<DeviceJson>()
  const open = () => void api.device(van.id).then(setDetail, (error) => toast(messageOf(error), 'failed'))
  return (
    <>
      <ChangeButton type="button" class="stay-none" aria-label={`${words.van.assign}: ${nameOf(van)}`} onClick={open}>
        <Icon name="plus" size={12} />
        {words.van.assign}
      </ChangeButton>
      {detail && (
        <AssignDialog
          detail={detail}
          close={(isChanged) => {
            setDetail(undefined)
            if (isChanged) changed()
          }}
        />
      )}
    </>
  )
}
