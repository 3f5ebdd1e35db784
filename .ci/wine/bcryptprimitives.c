/* A stand-in for bcryptprimitives.dll, for tests only. Rust programs take their random seeds from its ProcessPrng; Wine
 * has it since version 9, and Debian's is older. The work is passed on to the generator that Wine does have. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length) {
    const SIZE_T most = 1 << 16;
    while (length > 0) {
        ULONG part = (ULONG)(length < most ? length : most);
        if (!SystemFunction036(buffer, part)) return FALSE;
        buffer += part;
        length -= part;
    }
    return TRUE;
}
