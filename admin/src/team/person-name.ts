/** What a person is called here: their name, or their e-mail where they have none. */
export const personName = ({ name, email }: { name: string | null; email: string }): string => name ?? email;
