import Testing

@testable import TransferAnalysis

struct CompletedPartsTests {
    private static func list(_ numbers: String...) -> String {
        "<?xml version=\"1.0\"?><CompleteMultipartUpload xmlns='\"'>"
            + numbers.map { "<Part><ETag>x</ETag><PartNumber>\($0)</PartNumber></Part>" }.joined()
    }

    /// A document, and the numbers that it lists; `nil` if it is no list.
    @Test(arguments: [
        (list("1", " 2\n", "10000").replacing("'\"'", with: "\"x\""), [1, 2, 10_000]),
        ("<PartNumber>3</PartNumber>", [3]),
        (list("1"), [1]),
        ("<PartNumber>1<b/></PartNumber><PartNumber>2<!-- -->3</PartNumber>", nil),
        ("<PartNumber>2</PartNumber><PartNumber>1</PartNumber>", nil),
        ("<PartNumber>1</PartNumber><PartNumber>1</PartNumber>", nil),
        ("<PartNumber>0</PartNumber>", nil),
        ("<PartNumber>10001</PartNumber>", nil),
        ("<PartNumber>99999999999999999999</PartNumber>", nil),
        ("<PartNumber>-1</PartNumber>", nil),
        ("<PartNumber/>", nil),
        ("<PartNumber>1 2</PartNumber>", nil),
        ("<PartNumber>1", nil),
        ("<!-- <PartNumber>1</PartNumber> -->", nil),
        ("<PartNumber>1</PartNumber><![CDATA[<PartNumber>2</PartNumber>]]>", nil),
        ("<a b=\"<PartNumber>1</PartNumber>\"/>", nil),
        ("<a b=\"><PartNumber>1</PartNumber>\"/>", nil),
        ("<a>", nil),
        ("<", nil),
        ("{}", nil),
        ("", nil),
    ])
    func reads(_ text: String, _ numbers: [Int64]?) {
        let bytes = [UInt8](text.utf8)
        #expect(CompletedParts(bytes[...])?.numbers == numbers)
        for end in bytes.indices { _ = CompletedParts(bytes[..<end]) }
    }

    @Test func isBounded() throws {
        func numbers(behind count: Int) throws -> [Int64]? {
            let content = String(repeating: " ", count: count) + "<PartNumber>1</PartNumber>"
            let scenario = Scenario([Step("POST /", content, "200")])
            return try CompletedParts(scenario.exchanges[0], scenario)?.numbers
        }
        #expect(try numbers(behind: 100) == [1])
        #expect(try numbers(behind: 4 << 20) == nil)
    }
}
