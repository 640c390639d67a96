#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Lets one thread sleep until another raises it.
///
/// `Sendable` unchecked: `isRaised` is touched under the mutex only, and the two pointers never
/// change.
@safe
final class WakeSignal: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isRaised = false

    init() {
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    func raise() {
        unsafe pthread_mutex_lock(mutex)
        isRaised = true
        unsafe pthread_cond_broadcast(condition)
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Sleeps until it is raised.
    /// - Parameter lowering: whether the next to wait sleeps again.
    func wait(lowering: Bool) {
        unsafe pthread_mutex_lock(mutex)
        while !isRaised { unsafe pthread_cond_wait(condition, mutex) }
        if lowering { isRaised = false }
        unsafe pthread_mutex_unlock(mutex)
    }
}

/// Lets the calling thread sleep.
func pause(microseconds: Int64) {
    var time = timespec(
        tv_sec: Int(microseconds / 1_000_000), tv_nsec: Int(microseconds % 1_000_000) * 1000)
    unsafe nanosleep(&time, nil)
}

/// Runs `body` on a thread of its own that takes no signals.
///
/// - Returns: whether the system had a thread to give.
func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    let argument = unsafe Unmanaged.passRetained(ThreadBody(run: body)).toOpaque()
    #if canImport(Glibc)
        var thread = pthread_t()
    #else
        var thread: pthread_t?
    #endif
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    let result = unsafe pthread_create(&thread, nil, threadEntry, argument)
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    guard result == 0 else {
        unsafe Unmanaged<ThreadBody>.fromOpaque(argument).release()
        return false
    }
    #if canImport(Glibc)
        pthread_detach(thread)
    #else
        if let thread = unsafe thread { unsafe pthread_detach(thread) }
    #endif
    return true
}

private final class ThreadBody {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

#if canImport(Glibc)
    private func threadEntry(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let argument = unsafe argument {
            unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
        }
        return nil
    }
#else
    private func threadEntry(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
        return nil
    }
#endif
