const words = (text: string): string[] => text.trim().split(/\s+/);

export const FORBIDDEN_HOSTS = [
  // loopback, in every spelling a URL parser knows
  ...words(`
    127.0.0.1 127.1 127.0.1 127.255.255.254 2130706433 0x7f000001 0x7f.0.0.1 0x7f.1 0177.0.0.1
    017700000001 127.0.0.1. 127.000.000.001 %31%32%37.0.0.1 １２７.0.0.1 [::1] [0:0:0:0:0:0:0:1]
    [0000::0001]
  `),
  // "this" network and any
  ...words('0.0.0.0 0 0.1.2.3 [::]'),
  // private
  ...words('10.0.0.1 10.255.255.255 167772161 172.16.0.1 172.31.255.255 192.168.0.1 192.168.1.1 0xc0a80001'),
  // link-local and metadata
  ...words(`
    169.254.0.1 169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 [fe80::1] [febf::1]
    [fd00:ec2::254] 100.100.100.200 192.0.0.192 168.63.129.16
  `),
  // carrier-grade NAT
  ...words('100.64.0.1 100.127.255.255'),
  // IPv4 inside IPv6: mapped, compatible, NAT64, 6to4, Teredo
  ...words(`
    [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:10.0.0.1] [::ffff:169.254.169.254]
    [0:0:0:0:0:ffff:c0a8:1] [::127.0.0.1] [::7f00:1] [64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe]
    [64:ff9b:1::1] [2002:7f00:1::] [2002:c0a8:1::1] [2001:0:4136:e378:8000:63bf:3fff:fdd2]
  `),
  // unique local, site-local, multicast, broadcast, documentation, benchmarking, reserved
  ...words(`
    [fc00::1] [fd12:3456:789a::1] [fec0::1] [ff02::1] 224.0.0.1 239.255.255.250 255.255.255.255
    192.0.2.1 198.51.100.7 203.0.113.9 198.18.0.1 240.0.0.1 [2001:db8::1] 192.0.0.1 192.88.99.1 [100::1]
  `),
];

/** Names that mean this machine or this network without a question to a name server. */
export const FORBIDDEN_NAMES = words(
  'localhost LOCALHOST localhost. app.localhost printer.local db.internal nas.home.arpa',
);

export const PUBLIC_HOSTS = words(`
  1.1.1.1 8.8.8.8 93.184.216.34 172.15.255.255 172.32.0.1 100.63.255.255 100.128.0.1 192.167.255.255
  223.255.255.254 [2606:4700:4700::1111] [2a00:1450:4001:82a::200e] [2620:fe::fe]
`);

/** Whole URLs that lead to this machine, or look as if they led elsewhere. */
export const forbiddenUrls = (port: number): string[] => [
  `https://user@127.0.0.1:${port}/`,
  `https://user:password@localhost:${port}/`,
  `https://1.1.1.1@127.0.0.1:${port}/`,
  `https://1.1.1.1:443@127.0.0.1:${port}/`,
  `https://127.0.0.1:${port}#@1.1.1.1/`,
  `https://127.0.0.1:${port}?@1.1.1.1/`,
  `https://127.0.0.1:${port}\\@1.1.1.1/`,
  `https:127.0.0.1:${port}/`,
  `https:\\\\127.0.0.1:${port}\\`,
  `https:///127.0.0.1:${port}/`,
  `HTTPS://LOCALHOST:${port}/`,
  `http://127.0.0.1:${port}/`,
  `https://127。0。0。1:${port}/`,
  `https://①②⑦.⓪.⓪.①:${port}/`,
  `https://١٢٧.0.0.1:${port}/`,
  `https://𝟏𝟐𝟕.𝟎.𝟎.𝟏:${port}/`,
  `https://ｌｏｃａｌｈｏｓｔ:${port}/`,
  `https://loc\u00adalhost:${port}/`,
  `https://localhost.localdomain.localhost:${port}/`,
  `https://127.0.0.1%2e:${port}/`,
  `https://127%2e0%2e0%2e1:${port}/`,
  `https://0x7f.0x0.0x0.0x1:${port}/`,
  `https://0177.0x0.0.01:${port}/`,
  `https://127.0x000001:${port}/`,
  `https://[::ffff:0:127.0.0.1]:${port}/`,
  `https://[0:0:0:0:0:ffff:127.0.0.1]:${port}/`,
  `https://[::ffff:0:0]:${port}/`,
  `https://[::1%25lo]:${port}/`,
  `https://[64:ff9b::7f00:1]:${port}/`,
  `https://[2002:7f00:0001::1]:${port}/`,
  `https://127.0.0.1\n:${port}/`,
  `https://127.0.\t0.1:${port}/`,
  `file:///etc/passwd`,
  `gopher://127.0.0.1:${port}/`,
];
