import { Button, type ButtonProps } from "@mantine/core";
import type { ReactNode } from "react";
import { useRefusal } from "../api/session";
import type { Role } from "../api/types";

interface RoleButtonProps extends ButtonProps {
  role: Role;
  /** The full name. */
  table: string;
  onClick: () => void;
  children: ReactNode;
}

/** A button that says why the person's role does not allow it; it can still be focused. */
export function RoleButton({ role, table, onClick, children, ...props }: RoleButtonProps) {
  const refusal = useRefusal(role, table);
  if (refusal === undefined)
    return (
      <Button {...props} onClick={onClick}>
        {children}
      </Button>
    );
  return (
    <Button {...props} data-disabled aria-disabled title={refusal}>
      {children}
    </Button>
  );
}
