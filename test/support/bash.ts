/**
 * The words that let bash run a script. Without `--norc` it reads the user's .bashrc even for a script when its standard
 * input is a socket, as that of a child process of Node is: bash takes that for a remote shell.
 */
export function bashWords(script: string): [string, string, string] {
  return ["--norc", "-c", script];
}
