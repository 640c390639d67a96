import Filters
import Testing

@testable import Commands

struct FilterSyntaxTests {
    @Test func theCaretStandsUnderThePlace() {
        let violation = FilterViolation(column: 6, "x")
        #expect(violation.excerpt(of: "漢字 = ?") == ["  漢字 = ?", "         ^"])
        #expect(
            FilterViolation(column: 2, "x").excerpt(of: "\u{1B}a") == ["  \\u{1b}a", "        ^"])
    }
}
