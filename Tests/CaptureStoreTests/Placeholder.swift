// CaptureStore
