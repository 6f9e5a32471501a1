"""What all tests need of their process."""
import signal

# A shell lets jobs behind `&` ignore Ctrl-C, and programs that tests start inherit that. Those that
# try what Ctrl-C does would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
