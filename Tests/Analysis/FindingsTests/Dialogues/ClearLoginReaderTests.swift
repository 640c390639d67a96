import Base
import LoginRows
import Redaction
import TestConditions
import Testing
import Traffic

@testable import Findings
@testable import Logins

@Suite struct ClearLoginReaderTests {
    @Test(arguments: LoginRow.logins + LoginRow.quiet)
    func readsWhole(_ row: LoginRow) {
        let found = Self.logins(row.said)
        #expect(found.map(Self.text) == row.logins)
        #expect(found.first?.answer == row.answer)
        #expect(found.first?.isNTLMVersion1 == row.isNTLMVersion1)
    }

    @Test(arguments: LoginRow.logins + LoginRow.quiet)
    func readsByteByByte(_ row: LoginRow) {
        let gathered = DialogueSample(said: row.said).gathered(step: 1)
        let conversation = gathered.conversation(of: nil)
        let found = ClearLoginReader.logins(
            client: conversation?.client ?? [], origin: conversation?.origin ?? [])
        #expect(found.map(Self.text) == row.logins)
    }

    /// A part of a secret must never be taken for the whole.
    @Test(arguments: LoginRow.logins + LoginRow.quiet)
    func staysSilentWhereCut(_ row: LoginRow) {
        for index in row.said.indices {
            for count in row.said[index].bytes.indices {
                var said = row.said
                said[index] = Said(
                    direction: said[index].direction,
                    bytes: Array(said[index].bytes.prefix(count)))
                for login in Self.logins(said) { #expect(row.logins.contains(Self.text(login))) }
            }
        }
    }

    @Test(arguments: LoginRow.logins)
    func survivesEveryChangedByte(_ row: LoginRow) {
        for index in row.said.indices {
            for offset in row.said[index].bytes.indices.prefix(160) {
                for value: UInt8 in [0, 0x7F, 0x80, 0xFF] {
                    var said = row.said
                    var bytes = said[index].bytes
                    bytes[offset] = value
                    said[index] = Said(direction: said[index].direction, bytes: bytes)
                    #expect(Self.logins(said).count <= ClearLogin.countLimit + 2)
                }
            }
        }
    }

    /// What is reported of a dialogue is not shown of it, however it is cut into pieces.
    @Test(arguments: LoginRow.logins, [1, 7, 100_000])
    func isHiddenWhereShown(_ row: LoginRow, step: Int) {
        let sample = DialogueSample(said: row.said)
        let conversation = sample.gathered(step: step).conversation(of: nil)
        var redaction = MessageRedaction(
            protocolName: "", logins: LoginRanges(sample.gathered(step: step)))
        var shown: [UInt8] = []
        for record in sample.records(step: step) {
            let bytes = redaction.redact(record.bytes, of: record)
            if record.direction == .request { shown += bytes }
        }
        for login in conversation?.logins ?? [] where login.secret.count > 3 {
            #expect(!shown.contains(run: login.secret), "\(shown.text)")
        }
        let again = ClearLoginReader.logins(client: shown, origin: conversation?.origin ?? [])
        #expect(again.allSatisfy { $0.secret.contains(run: Array("***".utf8)) }, "\(shown.text)")
    }

    /// A capture that others made may show less of a part than it says.
    @Test(arguments: LoginRow.lines + LoginRow.streams, [0, 1, 12])
    func isHiddenInTheStartOfAPart(_ row: LoginRow, count: Int) {
        let sample = DialogueSample(said: row.said)
        var redaction = MessageRedaction(
            protocolName: "", logins: LoginRanges(sample.gathered()))
        let secrets = sample.gathered().conversation(of: nil)?.logins.map(\.secret) ?? []
        for record in sample.records() {
            let shown = redaction.redact(Array(record.bytes.prefix(count)), of: record)
            for secret in secrets where secret.count > 3 { #expect(!shown.contains(run: secret)) }
        }
    }

    private static func logins(_ said: [Said]) -> [ClearLogin] {
        func all(_ direction: Direction) -> [UInt8] {
            said.filter { $0.direction == direction }.flatMap(\.bytes)
        }
        return ClearLoginReader.logins(
            client: all(.request), origin: all(.response))
    }

    private static func text(_ login: ClearLogin) -> String {
        "\(login.protocolName.rawValue) \(login.form.rawValue) \(login.user?.text ?? "-")"
            + " \(login.secret.text)"
    }
}

extension ClearLoginReaderTests {
    @Test(arguments: LoginVector.all) func readsWhatLibrariesSend(_ vector: LoginVector) throws {
        let found = ClearLoginReader.logins(
            client: unhexed(vector.client), origin: unhexed(vector.origin))
        let login = try #require(found.first)
        #expect(found.count == 1)
        #expect(login.isHash == vector.isHash)
        // LDAP's is within a distinguished name.
        let user = login.user?.text ?? vector.user
        #expect(user.contains(vector.user.prefix(5)))
        if vector.isHash {
            #expect(!login.secret.text.contains(vector.password))
        } else {
            #expect(login.secret.text == vector.password)
        }
    }

    /// Each content without an end is looked for once.
    @Test(.processorTime(below: .seconds(20))) func manyContentsWithoutEndAreCheap() {
        let client = Array(("EHLO a\r\n" + String(repeating: "DATA\r\n", count: 150_000)).utf8)
        #expect(
            ClearLoginReader.logins(client: client, origin: Array("220 a\r\n250 b\r\n".utf8))
                .isEmpty)
    }

    /// The greeting was not caught.
    @Test(arguments: LoginVector.all.filter { unhexed($0.origin).first?.isASCIILetter == false })
    func readsWithoutAGreeting(_ vector: LoginVector) {
        let origin = unhexed(vector.origin)
        let rest = origin.drop { $0 != 0x0A }.dropFirst()
        guard !rest.isEmpty else { return }
        let found = ClearLoginReader.logins(client: unhexed(vector.client), origin: Array(rest))
        #expect(found.count == 1)
    }

    /// What one side alone tells of, where its words have one meaning.
    @Test(
        arguments: LoginVector.all.filter { vector in
            !["mysql", "pgsql", "redis-auth-inline"].contains { vector.name.hasPrefix($0) }
        })
    func readsTheClientAlone(_ vector: LoginVector) {
        let found = ClearLoginReader.logins(client: unhexed(vector.client), origin: [])
        #expect(found.count == 1)
        #expect(found.first?.isHash == vector.isHash)
    }
}
