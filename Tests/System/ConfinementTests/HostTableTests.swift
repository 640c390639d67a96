import Testing

@testable import Confinement

@Suite struct HostTableTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let table: String
        /// Names of loopback that are led away.
        var led: Set<String> = []
        /// `nil` if all stays.
        let confined: String?
    }

    static let rows = [
        Row(testDescription: "nothing", table: "", confined: nil),
        Row(
            testDescription: "this machine",
            table: "127.0.0.1 localhost\n::1 ip6-localhost ip6-loopback\nff02::1 ip6-allnodes\n",
            led: ["ip6-allnodes"], confined: "127.0.0.1 localhost\n::1 ip6-localhost ip6-loopback\n"
        ),
        Row(
            testDescription: "a host",
            table: "127.0.0.1 localhost\n10.0.0.5\tapi.internal api # the API\n",
            confined: "127.0.0.1 localhost\n"),
        Row(
            testDescription: "a host of IPv6", table: "2001:db8::5 api.internal\n::1 localhost\n",
            confined: "::1 localhost\n"),
        Row(
            testDescription: "a name of loopback", table: "127.0.0.1 localhost app.local\n",
            confined: nil),
        Row(
            testDescription: "a name of loopback that is led away",
            table: "127.0.0.1 localhost App.local other.local\r\n", led: ["app.local"],
            confined: "127.0.0.1 localhost other.local\n"),
        Row(
            testDescription: "localhost is not led away", table: "127.0.0.1 localhost a.localhost",
            led: ["localhost", "a.localhost"], confined: nil),
        Row(
            testDescription: "localhost at another address stays", table: "10.0.0.5 localhost api",
            confined: "10.0.0.5 localhost"),
        Row(
            testDescription: "the machine's own name",
            table: "172.17.0.2 box.example.com box\n10.0.0.5 boxer",
            confined:
                "172.17.0.2 box.example.com box"),
        Row(
            testDescription: "the machine's own name that is led away",
            table: "172.17.0.2 box.example.com box", led: ["box"],
            confined: "172.17.0.2 box.example.com"),
        Row(
            testDescription: "names that are blocked", table: "0.0.0.0 ads.test\n:: ads.test",
            confined: nil),
        Row(
            testDescription: "no addresses", table: "garbage name\n\n# 10.0.0.5 api\n10.0.0.5\n",
            confined: nil),
    ]

    @Test(arguments: rows) func leavesThisMachine(row: Row) {
        let confined = HostTable.confined(Array(row.table.utf8), ownName: "box") {
            row.led.contains($0)
        }
        #expect(confined.map { String(decoding: $0, as: UTF8.self) } == row.confined)
    }

    @Test(arguments: [
        ("hosts: files dns\n", nil),
        ("passwd: files sss\nhosts:\tfiles myhostname dns", nil),
        ("# hosts: nis\n", nil),
        (
            "passwd: files\nhosts: files mdns4_minimal [NOTFOUND=return] dns\nnetworks: files",
            "passwd: files\nhosts: files dns\nnetworks: files"
        ),
        (
            "hosts: mymachines resolve [!UNAVAIL=return] files myhostname dns # systemd",
            "hosts: files myhostname dns"
        ),
        ("hosts: files resolve", "hosts: files dns"),
    ])
    func leavesSourcesOfTheNetwork(_ rules: String, _ confined: String?) {
        let changed = HostTable.confinedSources(Array(rules.utf8))
        #expect(changed.map { String(decoding: $0, as: UTF8.self) } == confined)
    }
}
