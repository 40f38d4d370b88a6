import { Box, type BoxProps } from '@mantine/core';
import styles from './dot.module.css';

export interface DotProps extends BoxProps {
  label: string;
  /** One of the theme's. */
  color: string;
  isOver?: boolean;
  size?: 'sm' | 'md' | 'lg';
}

/** A dot in the colour of a state, and its name; a ring where it has ended. */
export const Dot = ({ label, color, isOver = false, size = 'md', className = '', ...box }: DotProps) => {
  const dot = { color: `var(--mantine-color-${color}-${color === 'gray' ? 5 : 6})` };
  return (
    <Box component="span" className={`${styles['state']} ${className}`} data-size={size} {...box}>
      {/* A new state is a new dot, which then fills. */}
      <span key={label} className={styles['dot']} data-over={isOver || undefined} style={dot} aria-hidden />
      {label}
    </Box>
  );
};
