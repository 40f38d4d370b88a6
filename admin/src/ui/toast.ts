export interface Toast {
  message: string;
  title?: string;
  color?: string;
  /** Buttons in the toast; it closes when one is pressed. */
  actions?: readonly { label: string; run(): unknown }[];
}
