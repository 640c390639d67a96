internal import Base

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Whether inputs that are known to break a rule are gone around, so that what lies behind them can
/// be found; for who works on them.
enum Around {
    static let isSet = unsafe getenv("SALLYPORT_FUZZ_AROUND") != nil
}
