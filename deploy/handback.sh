#!/bin/sh
# /usr/local/bin/handback: the command line with the settings of the service, as its user. For example: sudo handback doctor
exec runuser -u handback -- sh -c 'set -a && . /etc/handback/env && exec /usr/bin/node /opt/handback/bin/handback.js "$@"' handback "$@"
